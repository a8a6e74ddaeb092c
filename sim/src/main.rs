//! The program `hostler-sim`.

fn main() -> std::process::ExitCode {
    hostler_sim::cli::main()
}
