//! The program under test. Cargo tells a test the path of a binary only if that belongs to the test's own package.

fn main() -> std::process::ExitCode {
    hostler::main()
}
