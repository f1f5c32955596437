package io.troupe.app.launch;

import static io.troupe.core.Require.require;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The hosts of a cluster and what is done to all of them. The first is the head's. On every host
 * everything lies in one folder: the build, {@code agent.pid} (process and its start time, so that
 * a number that was given away again is never signalled), {@code agent.log}, and {@code agent.exit}
 * once the process has ended.
 */
public final class Fleet implements AutoCloseable {
  /** Something stands in the way of a launch; nothing was started by it. */
  public static final class NotReadyException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Of a launch.
     *
     * @param problems each with the next step
     */
    public NotReadyException(List<String> problems) {
      super(String.join("\n", problems));
    }
  }

  /** Where a host's keys lie in its folder. */
  public static final String KEYS = "keys";

  /** A file beside keys that were copied, and are deleted when they are needed no more. */
  private static final String COPIED = ".copied";

  private static final int PATIENCE_SECONDS = 90;

  /** A shell waits for each process and notes its exit code, a moment after its end. */
  private static final int TENTHS_UNTIL_NOTED = 50;

  private final List<RemoteHost> hosts;
  private final Ssh ssh;
  private final String folder;
  private final Clock clock;
  private final Consumer<String> say;

  /**
   * A fleet that nothing was done to.
   *
   * @param folder absolute, on every host
   * @param say takes a line of what happens
   */
  public Fleet(List<RemoteHost> hosts, Ssh ssh, String folder, Clock clock, Consumer<String> say) {
    require(
        folder.matches("/[A-Za-z0-9._/-]+"),
        "the folder on the hosts is absolute and of letters, digits, . _ - and /, not '%s'",
        folder);
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
        Map<String, String> said = ssh.script(host, HostFacts.script(folder, ports)).facts();
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

  /** Copies a build to every host that does not have it. */
  public void copy(Bundle bundle, Map<RemoteHost, HostFacts> facts)
      throws IOException, InterruptedException {
    for (RemoteHost host : hosts) {
      HostFacts found = facts.get(host);
      if (found != null && found.build().equals(bundle.digest())) {
        say.accept("%-24s has this build".formatted(host.login()));
        continue;
      }
      say.accept("%-24s copying the build".formatted(host.login()));
      String command =
          "mkdir -p '%1$s' && cd '%1$s' && rm -rf bin lib build && tar -xf -".formatted(folder);
      Ssh.Said said =
          ssh.feed(host, command, out -> tar(bundle.folder(), List.of("bin", "lib"), out));
      if (said.code() != 0) {
        throw new IOException(
            "%s: the build could not be copied to %s: %s"
                .formatted(host.login(), folder, said.err().strip()));
      }
      must(host, "echo '%s' >'%s/build'".formatted(bundle.digest(), folder));
    }
  }

  private static void tar(Path folder, List<String> names, OutputStream out) throws IOException {
    List<String> command = new ArrayList<>(List.of("tar", "-C", folder.toString(), "-cf", "-"));
    command.addAll(names);
    Process tar =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    tar.getInputStream().transferTo(out);
  }

  /**
   * Copies a host's keys into its folder, where only its owner can read them; those that lay there
   * before go once the new ones are whole.
   */
  public void copyKeys(KeyFolders keys, RemoteHost host) throws IOException, InterruptedException {
    String command =
        """
        umask 077; cd '%1$s' && { [ -O . ] || { echo '%1$s belongs to somebody else; give another --remote' >&2; exit 1; }; } &&
        rm -rf %2$s.new && mkdir %2$s.new && tar -C %2$s.new -xof - && chmod 700 %2$s.new && chmod 600 %2$s.new/* && : >%2$s.new/%3$s && rm -rf %2$s && mv %2$s.new %2$s
        """
            .formatted(folder, KEYS, COPIED);
    say.accept("%-24s copying keys of %s".formatted(host.login(), keys.of(host)));
    Ssh.Said said = ssh.feed(host, command, out -> tar(keys.of(host), List.of("."), out));
    if (said.code() != 0) {
      throw new IOException(
          "%s: its keys could not be copied: %s".formatted(host.login(), said.err().strip()));
    }
  }

  /** Whether keys lie on a host. */
  public boolean hasKeys(RemoteHost host) throws IOException, InterruptedException {
    return ssh.script(host, "[ -d '%s/%s' ]".formatted(folder, KEYS)).code() == 0;
  }

  /**
   * Deletes the keys that were copied to a host, unless one of these processes still needs them;
   * keys that somebody else put there stay.
   */
  public void removeKeys(RemoteHost host, List<String> names)
      throws IOException, InterruptedException {
    Ssh.Said said =
        ssh.script(
            host,
            """
            cd '%1$s' 2>/dev/null && [ -e %2$s/%4$s ] || exit 0
            for name in %3$s; do
              [ -r $name.pid ] && read -r pid start <$name.pid || continue
              [ "$(awk '{print $22}' /proc/$pid/stat 2>/dev/null)" = "$start" ] || continue
              echo "keys stay, which $name (process $pid) needs"; exit 0
            done
            rm -rf %2$s %2$s.new && echo "keys removed"
            """
                .formatted(folder, KEYS, String.join(" ", names), COPIED));
    if (said.code() != 0) {
      throw new IOException(
          "%s: its keys could not be removed from %s: %s"
              .formatted(host.login(), folder, said.err().strip()));
    }
    if (!said.out().isBlank()) {
      say.accept("%-24s %s".formatted(host.login(), said.out().strip()));
    }
  }

  /** Copies a text into a file in the folder of every host. */
  public void write(String name, String content) throws IOException, InterruptedException {
    for (RemoteHost host : hosts) {
      Ssh.Said said =
          ssh.feed(
              host,
              "cat >'%s/%s'".formatted(folder, name),
              out -> out.write(content.getBytes(UTF_8)));
      if (said.code() != 0) {
        throw new IOException("%s: %s".formatted(host.login(), said.err().strip()));
      }
    }
  }

  /**
   * Starts a process of the build on a host, which outlives the connection.
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
    must(
        host,
        """
        cat >'%1$s/%4$s.sh' <<'END'
        cd '%1$s' || exit 1
        exec env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin JAVA_HOME='%2$s' '%1$s/bin/troupe'%3$s
        END
        cat >'%1$s/%4$s.args' <<'END'
        %5$s
        END
        """
            .formatted(folder, java, quoted, name, java + "\n" + String.join("\n", arguments)));
    again(host, name);
  }

  /**
   * What a process was last started with.
   *
   * @param java folder of the host's JDK
   */
  public record Started(String java, List<String> arguments) {
    public Started {
      arguments = List.copyOf(arguments);
    }
  }

  /** What a process was last started with, if ever. */
  public Optional<Started> started(RemoteHost host, String name)
      throws IOException, InterruptedException {
    Ssh.Said said =
        ssh.script(host, "cat '%s/%s.args' 2>/dev/null || exit 0".formatted(folder, name));
    List<String> lines = said.out().lines().toList();
    return lines.isEmpty()
        ? Optional.empty()
        : Optional.of(new Started(lines.getFirst(), lines.subList(1, lines.size())));
  }

  /** Name of the newest run in the folder of a host, if there is one. */
  public Optional<String> newestRun(RemoteHost host) throws IOException, InterruptedException {
    Ssh.Said said =
        ssh.script(host, "cd '%s/runs' 2>/dev/null && ls -1dt -- */ ; exit 0".formatted(folder));
    return said.out().lines().findFirst().map(line -> line.replace("/", ""));
  }

  /** Starts a process once more, as {@link #start} did before. */
  public void again(RemoteHost host, String name) throws IOException, InterruptedException {
    must(
        host,
        """
        cd '%1$s' && [ -r %2$s.sh ] || { echo "no %2$s was ever started there" >&2; exit 1; }
        rm -f %2$s.pid %2$s.exit
        setsid nohup sh -c '
          sh "$1/$2.sh" >$2.log 2>&1 </dev/null &
          pid=$!
          echo "$pid $(awk "{print \\$22}" /proc/$pid/stat)" >$2.new && mv $2.new $2.pid
          wait $pid
          echo $? >$2.exit
        ' sh '%1$s' %2$s >/dev/null 2>&1 </dev/null &
        i=0
        until [ -s %2$s.pid ]; do
          [ $i -lt 100 ] || { echo "%2$s does not start" >&2; exit 1; }
          sleep 0.1; i=$((i + 1))
        done
        """
            .formatted(folder, name));
  }

  /**
   * Waits until a process's log holds a text.
   *
   * @throws IOException if it ends before, or takes too long; with the end of its log
   */
  public void await(RemoteHost host, String name, String text)
      throws IOException, InterruptedException {
    must(
        host,
        """
        cd '%1$s' && read -r pid start <%2$s.pid
        i=0
        while [ $i -lt %4$d ]; do
          grep -q '%3$s' %2$s.log && exit 0
          if [ "$(awk '{print $22}' /proc/$pid/stat 2>/dev/null)" != "$start" ]; then
            echo "%2$s ended; its last words:" >&2; tail -n 5 %2$s.log >&2; exit 1
          fi
          sleep 0.2; i=$((i + 1))
        done
        echo "%2$s is not up after %5$d s; its last words:" >&2; tail -n 5 %2$s.log >&2
        exit 1
        """
            .formatted(folder, name, text, 5 * PATIENCE_SECONDS, PATIENCE_SECONDS));
  }

  /** Ends a process by SIGTERM; it may take its time. Says what became of it. */
  public void stop(RemoteHost host, String name) throws IOException, InterruptedException {
    Ssh.Said said =
        ssh.script(
            host,
            """
            cd '%1$s' 2>/dev/null && [ -r %2$s.pid ] || { echo "no %2$s was started"; exit 0; }
            read -r pid start <%2$s.pid
            alive() { [ "$(awk '{print $22}' /proc/$pid/stat 2>/dev/null)" = "$start" ]; }
            alive || { echo "%2$s had ended"; rm -f %2$s.pid; exit 0; }
            kill -TERM "$pid"
            i=0
            while alive && [ $i -lt %3$d ]; do sleep 0.2; i=$((i + 1)); done
            if alive; then echo "%2$s (process $pid) still drains"; else echo "%2$s ended"; rm -f %2$s.pid; fi
            """
                .formatted(folder, name, 5 * PATIENCE_SECONDS));
    say.accept("%-24s %s".formatted(host.login(), said.out().strip()));
  }

  /** Whether a process lives, and the last line of its log. */
  public boolean status(RemoteHost host, String name) throws IOException, InterruptedException {
    Ssh.Said said =
        ssh.script(
            host,
            """
            cd '%1$s' 2>/dev/null && [ -r %2$s.pid ] || { echo "%2$s: not started"; exit 1; }
            read -r pid start <%2$s.pid
            if [ "$(awk '{print $22}' /proc/$pid/stat 2>/dev/null)" = "$start" ]; then
              echo "%2$s: process $pid · $(tail -n 1 %2$s.log)"
            else
              echo "%2$s: ended$([ -s %2$s.exit ] && echo " with exit code $(cat %2$s.exit)") · $(tail -n 1 %2$s.log)"
              exit 1
            fi
            """
                .formatted(folder, name));
    say.accept("%-24s %s".formatted(host.login(), said.out().strip()));
    return said.code() == 0;
  }

  /** Shows what a process has written so far. */
  public boolean show(RemoteHost host, String name) throws IOException, InterruptedException {
    return ssh.show(host, "exec cat '%s/%s.log'".formatted(folder, name)).waitFor() == 0;
  }

  /**
   * Shows a process's log from its start and as it grows.
   *
   * @return the ssh client that does, which ends after the process; ending it leaves nothing on the
   *     host, because {@code tail} ends when nobody reads it
   */
  public Process follow(RemoteHost host, String name) throws IOException {
    return ssh.show(
        host,
        "cd '%1$s' && read -r pid start <%2$s.pid && exec tail -n +1 --pid=$pid -f %2$s.log"
            .formatted(folder, name));
  }

  /** What has become of a process. */
  public Fate fate(RemoteHost host, String name) throws IOException, InterruptedException {
    Ssh.Said said =
        ssh.script(
            host,
            """
            cd '%1$s' 2>/dev/null || exit 0
            i=0
            while [ $i -lt %3$d ]; do
              [ -s %2$s.exit ] && { echo "exit=$(cat %2$s.exit)"; exit 0; }
              if read -r pid start <%2$s.pid; then
                [ "$(awk '{print $22}' /proc/$pid/stat 2>/dev/null)" = "$start" ] && { echo alive=$pid; exit 0; }
              fi 2>/dev/null
              sleep 0.1; i=$((i + 1))
            done
            """
                .formatted(folder, name, TENTHS_UNTIL_NOTED));
    Map<String, String> facts = said.facts();
    if (facts.containsKey("alive")) {
      return new Fate.Alive();
    }
    return facts.containsKey("exit")
        ? new Fate.Ended(Integer.parseInt(facts.getOrDefault("exit", "").strip()))
        : new Fate.Lost();
  }

  /** The hosts, the head's first. */
  public List<RemoteHost> hosts() {
    return hosts;
  }

  /** Ends the connections to the hosts; what was started there goes on. */
  @Override
  public void close() {
    ssh.close(hosts);
  }

  private void must(RemoteHost host, String script) throws IOException, InterruptedException {
    Ssh.Said said = ssh.script(host, script);
    if (said.code() != 0) {
      throw new IOException("%s: %s".formatted(host.login(), said.err().strip()));
    }
  }
}
