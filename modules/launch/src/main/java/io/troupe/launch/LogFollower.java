package io.troupe.launch;

import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.launch.remote.RemoteProcessState;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A terminal that shows what a process on a host writes. A signal detaches it and ends nothing
 * else; the end of the process ends it with the process's own exit code. Both are said, with the
 * commands that come next.
 */
final class LogFollower {
  private final RemoteHosts fleet;
  private final LaunchOptions options;
  private final LaunchReport report;

  LogFollower(RemoteHosts fleet, LaunchOptions options, LaunchReport report) {
    this.fleet = fleet;
    this.options = options;
    this.report = report;
  }

  /** Follows the run; returns the exit code of this process. */
  int run() throws IOException, InterruptedException {
    RemoteHost coordinator = fleet.hosts().getFirst();
    return follow(
        coordinator, LaunchCommand.RUN, "the run on " + coordinator.login(), "logs --follow");
  }

  /** Follows a host's agent; returns the exit code of this process. */
  int agent(RemoteHost host) throws IOException, InterruptedException {
    String again = "logs %s --follow".formatted(host.address());
    return follow(host, LaunchCommand.AGENT, "the agent on " + host.login(), again);
  }

  private int follow(RemoteHost host, String name, String who, String again)
      throws IOException, InterruptedException {
    Process log = fleet.follow(host, name);
    Signals signals =
        Signals.install(
            _ -> log.destroy(), number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    boolean over = log.waitFor() == 0; // It shows a log to the end of its process.
    Optional<RemoteProcessState> fate = Optional.empty();
    String broken = "";
    if (signals.received().isEmpty()) {
      try {
        fate = Optional.of(fleet.fate(host, name));
      } catch (IOException unreachable) {
        broken = String.valueOf(unreachable.getMessage());
      }
    }
    // ^C reaches the ssh client too, which may have ended before this process heard of it.
    OptionalInt signal = signals.received();
    if (signal.isPresent()
        && fate.filter(one -> !(one instanceof RemoteProcessState.Running)).isEmpty()) {
      say("detached from %s, which %s".formatted(who, over ? "has ended" : "continues"));
      next(again);
      return ExitCode.ofSignal(signal.getAsInt());
    }
    if (fate.isEmpty()) {
      say("error: the connection to %s broke: %s".formatted(who, broken));
      say(over ? "it has ended; how is not known" : "whether it continues is not known");
      next(again);
      return ExitCode.UNREACHABLE.code();
    }
    return switch (fate.get()) {
      case RemoteProcessState.Running() -> {
        say("error: the connection to %s broke; it continues".formatted(who));
        next(again);
        yield ExitCode.UNREACHABLE.code();
      }
      case RemoteProcessState.Exited(int code) -> {
        say("%s ended with exit code %d".formatted(who, code));
        afterwards(name, code == ExitCode.OK.code());
        yield code;
      }
      case RemoteProcessState.Lost() -> {
        say("error: %s is gone, and nobody noted how it ended".formatted(who));
        afterwards(name, false);
        yield ExitCode.FAILED.code();
      }
    };
  }

  private void next(String again) {
    say("follow  " + options.command(again));
    say("status  " + options.command("status"));
    say("stop    " + options.command("stop"));
  }

  private void afterwards(String name, boolean well) {
    if (name.equals(LaunchCommand.RUN)) {
      if (!well) {
        say("resume  " + options.command("resume"));
      }
      say("stop    %s   (the agents, which wait for a run)".formatted(options.command("stop")));
    } else {
      say("status  " + options.command("status"));
    }
  }

  private void say(String line) {
    report.say(line);
  }
}
