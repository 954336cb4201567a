try:
    f()
except (