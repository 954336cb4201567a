// What the rooms' objects are linked with: that they link is the test.
int main() { return 0; }
