package io.troupe.gateway.agent;

import io.troupe.base.process.ForeignProgram;
import io.troupe.base.process.SearchPath;
import io.troupe.base.sandbox.ProgramBox;
import io.troupe.base.sandbox.SandboxCommand;
import io.troupe.base.sandbox.SandboxDiagnosis;
import io.troupe.base.sandbox.SandboxPython;
import io.troupe.base.sandbox.SandboxUids;
import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.net.link.SocketRelay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The walls around processes of an agent: namespaces of their own, the system's programs, a few
 * folders that can be read, and no network but the gateway.
 *
 * @param readable folders of the agent
 */
public record AgentSandbox(List<Path> readable, ProgramBox.ProgramLimits limits) {
  private static final Path PYTHON = Path.of("/usr/bin/python3");

  /** The port of the sandbox that a check starts; nothing connects to it. */
  private static final int PORT = 8000;

  private static final int CONNECTIONS = 1024;
  private static final Duration START = Duration.ofSeconds(30);
  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  /** Agents have user ids apart from those of code verifiers, which count from 0. */
  private static final int FIRST_UID = SandboxUids.MOST_WORKERS / 2;

  private static final AtomicInteger STARTED = new AtomicInteger();

  public AgentSandbox {
    readable = readable.stream().map(each -> each.toAbsolutePath().normalize()).toList();
  }

  /**
   * Tries the sandbox with a program that does nothing.
   *
   * @throws IOException if it cannot be had on this machine; says why
   */
  public void check() throws IOException {
    for (Path path : readable) {
      if (!Files.isReadable(path)) {
        throw new IOException("folder %s cannot be read".formatted(path));
      }
      if (SandboxUids.of(FIRST_UID).isPresent()) {
        refuseHidden(path);
      }
    }
    if (SearchPath.find("bwrap").isEmpty()) {
      throw new IOException(SandboxDiagnosis.NO_BUBBLEWRAP);
    }
    try (SocketRelay relay = relay(PORT);
        ForeignProgram probe =
            ForeignProgram.start(command(List.of("true"), relay, PORT), Map.of(), 1000, _ -> {})) {
      int code = probe.exit().toCompletableFuture().get(START.toMillis(), TimeUnit.MILLISECONDS);
      if (code != 0) {
        throw new IOException(
            SandboxDiagnosis.cause(probe.lastOutput(LAST_OUTPUT), SandboxDiagnosis::kernelSetting));
      }
    } catch (TimeoutException slow) {
      throw new IOException("the sandbox does not start within %s".formatted(START), slow);
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the sandbox started", stopped);
    }
  }

  /**
   * Refuses a folder that other users cannot enter: sandboxes that root starts have users of their
   * own.
   */
  private static void refuseHidden(Path path) throws IOException {
    for (Path at = path; at != null; at = at.getParent()) {
      if (!Files.getPosixFilePermissions(at).contains(PosixFilePermission.OTHERS_EXECUTE)) {
        throw new IOException(
            "folder %s lies in %s, which other users cannot enter, and a sandbox that root starts has another user; move it, or chmod o+x %s"
                .formatted(path, at, at));
      }
    }
  }

  /** Leads connections of sandboxes to a port of this host. */
  static SocketRelay relay(int port) throws IOException {
    return SocketRelay.start(port, CONNECTIONS, SandboxUids.of(FIRST_UID).isPresent());
  }

  /**
   * The command of a process within the walls.
   *
   * @param port by which it connects to what the relay leads to
   */
  List<String> command(List<String> program, SocketRelay relay, int port) throws IOException {
    try {
      return SandboxCommand.of(
          SandboxPython.find(PYTHON),
          SandboxUids.of(FIRST_UID + Math.floorMod(STARTED.getAndIncrement(), FIRST_UID)),
          new ProgramBox(program, readable, folder(), relay.socket(), port, limits));
    } catch (SandboxUnavailableException unavailable) {
      throw new IOException(unavailable.getMessage(), unavailable);
    }
  }

  /** This process's own folder, where a sandbox has it, so that relative paths mean the same. */
  private Path folder() {
    Path own = Path.of("").toAbsolutePath().normalize();
    boolean there =
        readable.stream().anyMatch(path -> path.startsWith(own) || own.startsWith(path));
    return there ? own : Path.of("/tmp");
  }
}
