def f(x):
    with torch.cuda.device(x