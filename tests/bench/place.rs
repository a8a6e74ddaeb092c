//! Where the programs run: a directory with a state directory of its own, and an environment without surprises.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use tempfile::TempDir;

use super::Measured;

/// How often a running process is looked at to find out its peak of memory.
const LOOK: Duration = Duration::from_micros(500);

pub(crate) struct Place {
    dir: TempDir,
    program: PathBuf,
}

impl Place {
    pub(crate) fn new(program: PathBuf) -> Measured<Self> {
        let program = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let place = Self { dir, program };
        fs::create_dir(place.work()).map_err(|error| error.to_string())?;
        Ok(place)
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Deletes what the program keeps, so that the next run is the first.
    pub(crate) fn forget(&self) -> Measured<()> {
        match fs::remove_dir_all(self.state()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.dir.path()).env("XDG_STATE_HOME", self.state());
        command
    }

    fn hostler(&self, base_url: &str) -> Command {
        let mut command = self.command(&self.program);
        command.env("OPENAI_BASE_URL", base_url);
        command.args(["run", "--quiet", "--yolo", "--timeout", "60s", "--model", "openai/bench", "Go."]);
        command
    }

    /// A run, whose answer is returned.
    pub(crate) fn run(&self, base_url: &str) -> Measured<String> {
        output(self.hostler(base_url))
    }

    pub(crate) fn version(&self) -> Measured<String> {
        let mut command = self.command(&self.program);
        command.arg("--version");
        Ok(output(command)?.trim_end().to_owned())
    }

    pub(crate) fn curl(&self, arguments: &[&str]) -> Measured<String> {
        let mut command = self.command("curl");
        command.args(arguments);
        output(command)
    }

    pub(crate) fn shell(&self, line: &str) -> Measured<()> {
        let mut command = self.command("bash");
        command.args(["-c", line]);
        output(command).map(drop)
    }

    /// The most memory that a run has had, in bytes. The kernel keeps the peak, so that only what the very last moment
    /// adds can be missed. (`wait4` would not do: its peak begins with that of the process that forked.)
    pub(crate) fn peak_memory(&self, base_url: &str) -> Measured<u64> {
        let mut command = self.hostler(base_url);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|error| error.to_string())?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak = None;
        let ended = loop {
            peak = high_water(&status).or(peak);
            if let Some(ended) = child.try_wait().map_err(|error| error.to_string())? {
                break ended;
            }
            thread::sleep(LOOK);
        };
        match peak {
            Some(peak) if ended.success() => Ok(peak),
            Some(_) => Err(format!("the run whose memory is measured failed ({ended})")),
            None => Err("the kernel does not tell the peak of memory".to_owned()),
        }
    }

    /// The size of the program in bytes, and whether it is without symbols.
    pub(crate) fn size(&self) -> Measured<(u64, bool)> {
        let bytes = fs::read(&self.program).map_err(|error| error.to_string())?;
        let symbols = bytes.windows(7).any(|window| window == b".symtab");
        Ok((bytes.len() as u64, !symbols))
    }
}

fn high_water(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn output(mut command: Command) -> Measured<String> {
    let name = format!("{}", command.get_program().display());
    let output = command.output().map_err(|error| format!("{name} does not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{name} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr)))
}
