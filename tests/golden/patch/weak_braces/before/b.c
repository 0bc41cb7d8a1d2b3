int main(void) {
  return 0;
}
int x;
