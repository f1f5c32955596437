package io.troupe.launch.remote;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The system's ssh client, without questions: keys or an agent must let it in. Scripts go to {@code
 * sh -s} on standard input, so nothing depends on a login shell, its start-up files or quoting.
 */
public final class SshClient {
  /** Exit code of ssh itself, as opposed to what it ran. */
  private static final int SSH_FAILED = 255;

  /** A script that says nothing for so long hangs: on a disk that is gone, for example. */
  static final Duration SCRIPT_LIMIT = Duration.ofMinutes(5);

  /** A build of some 200 MB over a slow line. */
  static final Duration COPY_LIMIT = Duration.ofHours(1);

  /** The result of a remote command. */
  record SshResult(int code, String out, String err) {
    /** Lines {@code key=value}. */
    Map<String, String> facts() {
      Map<String, String> facts = new LinkedHashMap<>();
      for (String line : out.lines().toList()) {
        int equals = line.indexOf('=');
        if (equals > 0) {
          facts.merge(
              line.substring(0, equals), line.substring(equals + 1), (a, b) -> a + "\n" + b);
        }
      }
      return facts;
    }
  }

  private final String program;
  private final List<String> options;
  private final Path sockets;

  /**
   * A client.
   *
   * @param options more options of ssh, such as {@code -i KEY}
   * @param sockets an existing private folder for shared connections; its path is short, because
   *     sockets' are
   */
  public SshClient(List<String> options, Path sockets) {
    this("ssh", options, sockets);
  }

  /** A client that starts a program in ssh's place. */
  public SshClient(String program, List<String> options, Path sockets) {
    this.program = program;
    this.options = List.copyOf(options);
    this.sockets = sockets;
  }

  /**
   * Runs a shell script on a host.
   *
   * @throws IOException if ssh cannot reach the host or is not let in; says what to do
   */
  public SshResult script(RemoteHost host, String script) throws IOException, InterruptedException {
    return run(
        host,
        "exec sh -s",
        out -> out.write(script.getBytes(StandardCharsets.UTF_8)),
        SCRIPT_LIMIT);
  }

  /** The writer of a remote command's standard input. */
  interface InputWriter {
    void to(OutputStream out) throws IOException;
  }

  /**
   * Runs a shell script on a host that reads standard input.
   *
   * @throws IOException as {@link #script} does, or if the script does not end within {@code limit}
   */
  SshResult scriptWithInput(RemoteHost host, String script, InputWriter feed, Duration limit)
      throws IOException, InterruptedException {
    return run(host, inShell(script), feed, limit);
  }

  private SshResult run(RemoteHost host, String command, InputWriter feed, Duration limit)
      throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command(host, command)).start();
    CompletableFuture<String> out = reading(process.getInputStream());
    CompletableFuture<String> err = reading(process.getErrorStream());
    Thread.ofVirtual()
        .start(
            () -> {
              try (OutputStream in = process.getOutputStream()) {
                feed.to(in);
              } catch (IOException _) {
                // The other end is gone; its exit code and its words say why.
              }
            });
    if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      process.destroyForcibly();
      throw new IOException(
          "%s: what was asked of it has no answer after %d s; look there for a disk that hangs (ssh -p %d %s)"
              .formatted(host.login(), limit.toSeconds(), host.sshPort(), host.login()));
    }
    int code = process.exitValue();
    SshResult said = new SshResult(code, out.join(), err.join());
    if (code == SSH_FAILED) {
      throw new IOException("%s: %s".formatted(host.login(), explain(host, said.err())));
    }
    return said;
  }

  /** Returns a script as one word of any login shell. */
  private static String inShell(String script) {
    return "exec sh -c '" + script.replace("'", "'\\''") + "'";
  }

  /** Shows what a remote script prints; returns the client that does. */
  Process startVisible(RemoteHost host, String script) throws IOException {
    return new ProcessBuilder(command(host, inShell(script)))
        .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
        .redirectOutput(ProcessBuilder.Redirect.INHERIT)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Ends the shared connections, which would stay open for a while, and removes their sockets. */
  void close(List<RemoteHost> hosts) {
    try (Stream<Path> open = Files.list(sockets)) {
      if (open.findAny().isPresent()) {
        List<Process> ends = new ArrayList<>();
        for (RemoteHost host : hosts) {
          List<String> command = command(host, "");
          command.addAll(1, List.of("-O", "exit"));
          ends.add(
              new ProcessBuilder(command)
                  .redirectErrorStream(true)
                  .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                  .start());
        }
        ends.forEach(end -> end.onExit().join());
      }
      Files.deleteIfExists(sockets);
    } catch (IOException _) {
      // ssh ends them itself after half a minute.
    }
  }

  private List<String> command(RemoteHost host, String remote) {
    List<String> command =
        new ArrayList<>(
            List.of(
                program,
                "-o",
                "BatchMode=yes",
                "-o",
                "ConnectTimeout=10",
                "-o",
                "ServerAliveInterval=15",
                "-o",
                "ForwardAgent=no",
                "-o",
                "ForwardX11=no",
                "-o",
                "ControlMaster=auto",
                "-o",
                "ControlPersist=30",
                "-o",
                "ControlPath=" + sockets.resolve("%C")));
    command.addAll(options);
    command.addAll(List.of("-p", Integer.toString(host.sshPort()), "--", host.login(), remote));
    return command;
  }

  private static CompletableFuture<String> reading(InputStream stream) {
    CompletableFuture<String> text = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try (stream) {
                text.complete(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
              } catch (IOException broken) {
                text.complete("");
              }
            });
    return text;
  }

  private static String explain(RemoteHost host, String words) {
    String said = words.strip();
    String where = "ssh -p %d %s".formatted(host.sshPort(), host.login());
    if (said.contains("Permission denied")) {
      return "ssh is not let in (%s); put your key into ~/.ssh/authorized_keys there, or load it into ssh-agent, and try: %s true"
          .formatted(said, where);
    }
    if (said.contains("Host key verification failed")
        || said.contains("REMOTE HOST IDENTIFICATION")) {
      return "its host key is not the known one (%s); make sure that it is the right machine, then: %s"
          .formatted(said.lines().reduce((_, last) -> last).orElse(""), where);
    }
    return "cannot be reached by ssh (%s); is it up, and does this work: %s true"
        .formatted(said, where);
  }
}
