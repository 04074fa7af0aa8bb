// Calls the program in the shared library.
int library_main(int argc, char **argv);
int main(int argc, char **argv) { return library_main(argc, argv); }
