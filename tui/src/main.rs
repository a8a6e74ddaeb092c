//! The `hostler` program.

fn main() -> std::process::ExitCode {
    hostler::main()
}
