package io.troupe.launch.remote;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The hosts of a cluster and what is done to all of them. The first is the coordinator's. On every
 * host everything lies in one {@link RemoteFolder}: the builds, {@code agent.pid} (process and its
 * start time, so that a number that was given away again is never signalled), {@code agent.log},
 * and {@code agent.exit} once the process has ended.
 */
public final class RemoteHosts implements AutoCloseable {
  /** An obstacle to a launch, by which nothing was started. */
  public static final class NotReadyException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception of a launch.
     *
     * @param problems each with the next step
     */
    public NotReadyException(List<String> problems) {
      super(String.join("\n", problems));
    }
  }

  /** The place of a host's keys in its folder. */
  public static final String KEYS = "keys";

  /** A file beside keys that were copied, and are deleted when they are needed no more. */
  private static final String COPIED = ".copied";

  private static final int PATIENCE_SECONDS = 90;

  /** A shell waits for each process and notes its exit code, a moment after its end. */
  private static final int TENTHS_UNTIL_NOTED = 50;

  private final List<RemoteHost> hosts;
  private final SshClient ssh;
  private final RemoteFolder folder;
  private final Clock clock;
  private final Consumer<String> say;

  /**
   * A fleet that nothing was done to.
   *
   * @param say takes a line of what happens
   */
  public RemoteHosts(
      List<RemoteHost> hosts,
      SshClient ssh,
      RemoteFolder folder,
      Clock clock,
      Consumer<String> say) {
    this.hosts = List.copyOf(hosts);
    this.ssh = ssh;
    this.folder = folder;
    this.clock = clock;
    this.say = say;
  }

  /** Looks at every host; returns what each said, in order. */
  public Map<RemoteHost, HostFacts> check(List<Integer> ports)
      throws NotReadyException, InterruptedException {
    Map<RemoteHost, HostFacts> facts = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    for (RemoteHost host : hosts) {
      try {
        long before = clock.instant().getEpochSecond();
        Map<String, String> said = ssh.script(host, HostFacts.script(folder, host, ports)).facts();
        HostFacts found = HostFacts.of(said, before, clock.instant().getEpochSecond());
        facts.put(host, found);
        found.problems().forEach(problem -> problems.add(host.login() + ": " + problem));
        say.accept(
            "%-24s %s · %d GPUs · %d GiB free"
                .formatted(
                    host.login(),
                    found.java().isEmpty() ? "no JDK" : found.java(),
                    found.gpus().size(),
                    found.freeKib() >> 20));
      } catch (IOException unreachable) {
        problems.add(String.valueOf(unreachable.getMessage()));
      }
    }
    if (!problems.isEmpty()) {
      throw new NotReadyException(problems);
    }
    return facts;
  }

  /**
   * Copies a build to every host that does not have it: beside the others, under its final name
   * once it is whole. Earlier builds go then: a check refuses a host on which one still runs.
   */
  public void copy(Bundle bundle, Map<RemoteHost, HostFacts> facts)
      throws IOException, InterruptedException {
    for (RemoteHost host : hosts) {
      HostFacts found = facts.get(host);
      if (found != null && found.build().equals(bundle.digest())) {
        say.accept("%-24s has this build".formatted(host.login()));
        continue;
      }
      String other = found == null ? "" : found.build();
      say.accept(
          "%-24s copying the build%s"
              .formatted(
                  host.login(), other.isEmpty() ? "" : ", and deleting " + Bundle.name(other)));
      String command =
          folder.make(host)
              + """
              rm -rf build-%1$s.new && mkdir build-%1$s.new && tar -C build-%1$s.new -xof - || exit 1
              [ -d build-%1$s ] && rm -rf build-%1$s.new || mv build-%1$s.new build-%1$s || exit 1
              echo %1$s >build.new && mv build.new build
              for old in build-*; do [ "$old" = build-%1$s ] || rm -rf "$old"; done
              """
                  .formatted(bundle.digest());
      SshClient.SshResult said =
          ssh.scriptWithInput(
              host,
              command,
              out -> Bundle.tar(bundle.folder(), List.of("bin", "lib"), out),
              SshClient.COPY_LIMIT);
      if (said.code() != 0) {
        throw new IOException(
            "%s: the build could not be copied to %s: %s"
                .formatted(host.login(), folder.on(host), said.err().strip()));
      }
    }
  }

  /**
   * Copies a host's keys into its folder, where only its owner can read them; those that lay there
   * before go once the new ones are whole.
   */
  public void copyKeys(KeyFolders keys, RemoteHost host) throws IOException, InterruptedException {
    String command =
        folder.make(host)
            + """
            rm -rf %1$s.new && mkdir %1$s.new && tar -C %1$s.new -xof - && chmod 700 %1$s.new &&
            chmod 600 %1$s.new/* && : >%1$s.new/%2$s && rm -rf %1$s && mv %1$s.new %1$s
            """
                .formatted(KEYS, COPIED);
    say.accept("%-24s copying keys of %s".formatted(host.login(), keys.of(host)));
    SshClient.SshResult said =
        ssh.scriptWithInput(
            host,
            command,
            out -> Bundle.tar(keys.of(host), List.of("."), out),
            SshClient.SCRIPT_LIMIT);
    if (said.code() != 0) {
      throw new IOException(
          "%s: its keys could not be copied: %s".formatted(host.login(), said.err().strip()));
    }
  }

  /** Whether keys lie on a host that a launch copied there. */
  public boolean hasCopiedKeys(RemoteHost host) throws IOException, InterruptedException {
    String look = "[ -e %s/%s ]".formatted(KEYS, COPIED);
    return ssh.script(host, folder.enter(host, "exit 1") + look).code() == 0;
  }

  /** Whether keys lie on a host. */
  public boolean hasKeys(RemoteHost host) throws IOException, InterruptedException {
    return ssh.script(host, folder.enter(host, "exit 1") + "[ -d " + KEYS + " ]").code() == 0;
  }

  /**
   * Deletes the keys that were copied to a host, unless one of these processes still needs them;
   * keys that another person put there stay.
   */
  public void removeKeys(RemoteHost host, List<String> names)
      throws IOException, InterruptedException {
    SshClient.SshResult said =
        ssh.script(
            host,
            folder.enter(host, "exit 0")
                + """
                [ -e %1$s/%3$s ] || exit 0
                for name in %2$s; do
                  is_alive "$name" || continue
                  echo "keys stay, which $name (process $pid) needs"; exit 0
                done
                rm -rf %1$s %1$s.new && echo "keys removed"
                """
                    .formatted(KEYS, String.join(" ", names), COPIED));
    if (said.code() != 0) {
      throw new IOException(
          "%s: its keys could not be removed from %s: %s"
              .formatted(host.login(), folder.on(host), said.err().strip()));
    }
    if (!said.out().isBlank()) {
      say.accept("%-24s %s".formatted(host.login(), said.out().strip()));
    }
  }

  /** Copies a text into a file in the folder of every host. */
  public void write(String name, String content) throws IOException, InterruptedException {
    for (RemoteHost host : hosts) {
      SshClient.SshResult said =
          ssh.scriptWithInput(
              host,
              folder.make(host) + "cat >'" + name + "'\n",
              out -> out.write(content.getBytes(UTF_8)),
              SshClient.SCRIPT_LIMIT);
      if (said.code() != 0) {
        throw new IOException("%s: %s".formatted(host.login(), said.err().strip()));
      }
    }
  }

  /**
   * Starts a process of the build on a host, which outlives the connection. Its working folder is
   * the launch's.
   *
   * @param name of its log and process file
   * @param java folder of the host's JDK
   * @param arguments of {@code troupe}
   */
  public void start(RemoteHost host, String name, String java, List<String> arguments)
      throws IOException, InterruptedException {
    StringBuilder quoted = new StringBuilder();
    arguments.forEach(
        argument -> quoted.append(" '").append(argument.replace("'", "'\\''")).append('\''));
    runOrFail(
        host,
        folder.make(host)
            + """
            cat >%3$s.sh <<'END'
            exec env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin JAVA_HOME='%1$s' "$PWD/build-$(cat build)/bin/troupe"%2$s
            END
            cat >%3$s.args <<'END'
            %4$s
            END
            """
                .formatted(java, quoted, name, java + "\n" + String.join("\n", arguments)));
    again(host, name);
  }

  /**
   * The command of the last start of a process.
   *
   * @param java folder of the host's JDK
   */
  public record Started(String java, List<String> arguments) {
    public Started {
      arguments = List.copyOf(arguments);
    }
  }

  /** Returns the command of the last start of a process, if it was ever started. */
  public Optional<Started> started(RemoteHost host, String name)
      throws IOException, InterruptedException {
    SshClient.SshResult said =
        requireSuccess(
            host,
            ssh.script(
                host,
                folder.enter(host, "exit 0") + "cat " + name + ".args 2>/dev/null || exit 0"));
    List<String> lines = said.out().lines().toList();
    return lines.isEmpty()
        ? Optional.empty()
        : Optional.of(new Started(lines.getFirst(), lines.subList(1, lines.size())));
  }

  /** Name of the newest run in the folder of a host, if there is one. */
  public Optional<String> newestRun(RemoteHost host) throws IOException, InterruptedException {
    SshClient.SshResult said =
        requireSuccess(
            host,
            ssh.script(
                host,
                folder.enter(host, "exit 0") + "cd runs 2>/dev/null && ls -1dt -- */ ; exit 0"));
    return said.out().lines().findFirst().map(line -> line.replace("/", ""));
  }

  /** Starts a process once more, as {@link #start} did before. */
  public void again(RemoteHost host, String name) throws IOException, InterruptedException {
    runOrFail(
        host,
        folder.enter(host, never(name))
            + """
            [ -r %1$s.sh ] || { %2$s; }
            rm -f %1$s.pid %1$s.exit
            setsid nohup sh -c '
              sh ./$1.sh >$1.log 2>&1 </dev/null &
              pid=$!
              echo "$pid $(awk "{print \\$22}" /proc/$pid/stat)" >$1.new && mv $1.new $1.pid
              wait $pid
              echo $? >$1.exit
            ' sh %1$s >/dev/null 2>&1 </dev/null &
            i=0
            until [ -s %1$s.pid ]; do
              [ $i -lt 100 ] || { echo "%1$s does not start" >&2; exit 1; }
              sleep 0.1; i=$((i + 1))
            done
            """
                .formatted(name, never(name)));
  }

  private static String never(String name) {
    return "echo 'no %s was ever started there' >&2; exit 1".formatted(name);
  }

  /**
   * Waits until a process's log holds a text.
   *
   * @throws IOException if it ends before, or takes too long; with the end of its log
   */
  public void await(RemoteHost host, String name, String text)
      throws IOException, InterruptedException {
    runOrFail(
        host,
        folder.enter(host, never(name))
            + """
            i=0
            while [ $i -lt %3$d ]; do
              grep -q '%2$s' %1$s.log && exit 0
              is_alive %1$s || { echo "%1$s ended; its last words:" >&2; tail -n 5 %1$s.log >&2; exit 1; }
              sleep 0.2; i=$((i + 1))
            done
            echo "%1$s is not up after %4$d s; its last words:" >&2; tail -n 5 %1$s.log >&2
            exit 1
            """
                .formatted(name, text, 5 * PATIENCE_SECONDS, PATIENCE_SECONDS));
  }

  /** Ends a process by SIGTERM; it may take its time. Says and returns what became of it. */
  public String stop(RemoteHost host, String name) throws IOException, InterruptedException {
    SshClient.SshResult said =
        ssh.script(
            host,
            folder.enter(host, "echo 'no %s was started'; exit 0".formatted(name))
                + """
                [ -r %1$s.pid ] || { echo "no %1$s was started"; exit 0; }
                is_alive %1$s || { echo "%1$s had ended"; rm -f %1$s.pid; exit 0; }
                kill -TERM "$pid"
                i=0
                while is_alive %1$s && [ $i -lt %2$d ]; do sleep 0.2; i=$((i + 1)); done
                if is_alive %1$s; then echo "%1$s (process $pid) still drains"; else echo "%1$s ended"; rm -f %1$s.pid; fi
                """
                    .formatted(name, 5 * PATIENCE_SECONDS));
    requireSuccess(host, said);
    say.accept("%-24s %s".formatted(host.login(), said.out().strip()));
    return said.out().strip();
  }

  /**
   * A process on a host.
   *
   * @param text with its number and the last line of its log
   */
  public record ProcessStatus(boolean alive, String text) {}

  /** Says whether a process lives, and the last line of its log. */
  public ProcessStatus status(RemoteHost host, String name)
      throws IOException, InterruptedException {
    SshClient.SshResult said =
        ssh.script(
            host,
            folder.enter(host, "echo '%s: not started'; exit 1".formatted(name))
                + """
                [ -r %1$s.pid ] || { echo "%1$s: not started"; exit 1; }
                if is_alive %1$s; then
                  echo "%1$s: process $pid · $(tail -n 1 %1$s.log)"
                else
                  echo "%1$s: ended$([ -s %1$s.exit ] && echo " with exit code $(cat %1$s.exit)") · $(tail -n 1 %1$s.log)"
                  exit 1
                fi
                """
                    .formatted(name));
    String text = (said.out() + said.err()).strip();
    say.accept("%-24s %s".formatted(host.login(), text));
    return new ProcessStatus(said.code() == 0, text);
  }

  /** Returns the output of a process so far. */
  public String log(RemoteHost host, String name) throws IOException, InterruptedException {
    return requireSuccess(
            host, ssh.script(host, folder.enter(host, never(name)) + "exec cat " + name + ".log\n"))
        .out();
  }

  /**
   * Shows a process's log from its start and as it grows.
   *
   * @return the ssh client that does, which ends after the process; ending it leaves nothing on the
   *     host, because {@code tail} ends when its reader does
   */
  public Process follow(RemoteHost host, String name) throws IOException {
    return ssh.startVisible(
        host,
        folder.enter(host, never(name))
            + "read -r pid start <%1$s.pid && exec tail -n +1 --pid=$pid -f %1$s.log"
                .formatted(name));
  }

  /** Returns the state of a process. */
  public RemoteProcessState fate(RemoteHost host, String name)
      throws IOException, InterruptedException {
    SshClient.SshResult said =
        ssh.script(
            host,
            folder.enter(host, "exit 0")
                + """
                i=0
                while [ $i -lt %2$d ]; do
                  [ -s %1$s.exit ] && { echo "exit=$(cat %1$s.exit)"; exit 0; }
                  is_alive %1$s && { echo alive=$pid; exit 0; }
                  sleep 0.1; i=$((i + 1))
                done
                """
                    .formatted(name, TENTHS_UNTIL_NOTED));
    Map<String, String> facts = said.facts();
    if (facts.containsKey("alive")) {
      return new RemoteProcessState.Running();
    }
    return facts.containsKey("exit")
        ? new RemoteProcessState.Exited(Integer.parseInt(facts.getOrDefault("exit", "").strip()))
        : new RemoteProcessState.Lost();
  }

  /** The hosts, the coordinator's first. */
  public List<RemoteHost> hosts() {
    return hosts;
  }

  /** Ends the connections to the hosts; what was started there continues. */
  @Override
  public void close() {
    ssh.close(hosts);
  }

  private void runOrFail(RemoteHost host, String script) throws IOException, InterruptedException {
    requireSuccess(host, ssh.script(host, script));
  }

  private static SshClient.SshResult requireSuccess(RemoteHost host, SshClient.SshResult said)
      throws IOException {
    if (said.code() != 0) {
      throw new IOException("%s: %s".formatted(host.login(), said.err().strip()));
    }
    return said;
  }
}
