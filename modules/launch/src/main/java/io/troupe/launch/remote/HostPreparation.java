package io.troupe.launch.remote;

import io.troupe.base.clock.Surroundings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes hosts that have just started fit for a launch: waits until each answers ssh and its setup
 * by cloud-init has ended, copies a JDK to hosts without one, and copies the build. A host on which
 * an agent runs stays as it is. Safe to repeat.
 */
public final class HostPreparation {
  /** Prints the progress of cloud-init. */
  private static final String SETUP =
      """
      command -v cloud-init >/dev/null || exit 0
      cloud-init status 2>/dev/null | sed -n 's/^status: */setup=/p'
      tail -n 3 /var/log/cloud-init-output.log 2>/dev/null | sed 's/^/last=/'
      exit 0
      """;

  private final List<RemoteHost> hosts;
  private final SshClient ssh;
  private final RemoteFolder folder = new RemoteFolder(RemoteFolder.DEFAULT);
  private final HostSupplies supplies;
  private final HostWait wait;

  /**
   * The wait for hosts.
   *
   * @param patience for all hosts together
   */
  public record HostWait(Duration patience, Surroundings here) {}

  /**
   * The files that hosts get.
   *
   * @param build a folder with bin/ and lib/; without one, the class path of this process
   * @param jdk for hosts without one
   */
  public record HostSupplies(Optional<Path> build, Path jdk) {}

  private HostPreparation(
      List<RemoteHost> hosts, SshClient ssh, HostSupplies supplies, HostWait wait) {
    this.hosts = hosts;
    this.ssh = ssh;
    this.supplies = supplies;
    this.wait = wait;
  }

  /**
   * Prepares the hosts of a hosts file.
   *
   * @param access access to the hosts
   * @throws RemoteHosts.NotReadyException if a host is not fit in time, or never will be
   */
  public static void prepare(Path hosts, SshAccess access, HostSupplies supplies, HostWait wait)
      throws RemoteHosts.NotReadyException, IOException, InterruptedException {
    List<RemoteHost> all = RemoteHost.read(hosts);
    SshClient ssh = access.open();
    try {
      new HostPreparation(all, ssh, supplies, wait).prepare();
    } finally {
      ssh.close(all);
    }
  }

  private void prepare() throws RemoteHosts.NotReadyException, IOException, InterruptedException {
    long giveUpAt = wait.here().nowMillis() + wait.patience().toMillis();
    Map<RemoteHost, HostFacts> fit = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    for (RemoteHost host : hosts) {
      try {
        HostFacts facts = await(host, giveUpAt);
        if (facts.agent().isEmpty()) {
          fit.put(host, facts);
        }
      } catch (RemoteHosts.NotReadyException unfit) {
        problems.add(String.valueOf(unfit.getMessage()));
      }
    }
    if (!problems.isEmpty()) {
      throw new RemoteHosts.NotReadyException(problems);
    }
    RemoteHosts fleet =
        new RemoteHosts(
            List.copyOf(fit.keySet()), ssh, folder, Clock.systemUTC(), wait.here()::say);
    Bundle.use(supplies.build(), bundle -> fleet.copy(bundle, fit));
  }

  /** Looks at a host again and again until it is ready for a launch. */
  private HostFacts await(RemoteHost host, long giveUpAt)
      throws RemoteHosts.NotReadyException, InterruptedException {
    String lastSaid = "";
    while (true) {
      String obstacle;
      try {
        Optional<String> setup = setup(host);
        HostFacts facts = facts(host);
        obstacle = setup.orElseGet(() -> String.join("; ", obstacles(facts)));
        if (obstacle.isEmpty() && facts.java().isEmpty() && facts.agent().isEmpty()) {
          copyJdk(host);
          continue;
        }
        if (obstacle.isEmpty()) {
          wait.here()
              .say(
                  "%-24s %s"
                      .formatted(
                          host.login(),
                          facts.agent().isEmpty()
                              ? "ready, with JDK " + facts.java()
                              : "an agent runs there (process %s); it stays as it is"
                                  .formatted(facts.agent())));
          return facts;
        }
      } catch (IOException unreachable) {
        obstacle = String.valueOf(unreachable.getMessage());
        if (obstacle.contains("host key is not the known one")) {
          throw new RemoteHosts.NotReadyException(List.of(obstacle));
        }
      }
      if (wait.here().nowMillis() + wait.here().lookAgain().toMillis() > giveUpAt) {
        throw new RemoteHosts.NotReadyException(
            List.of(
                "%s is not ready after %d s: %s"
                    .formatted(host.login(), wait.patience().toSeconds(), obstacle)));
      }
      if (!obstacle.equals(lastSaid)) {
        lastSaid = obstacle;
        wait.here().say("%-24s not ready yet: %s".formatted(host.login(), obstacle));
      }
      wait.here().pause(wait.here().lookAgain());
    }
  }

  /** Returns the obstacles of a host to a launch, except a missing JDK, which is copied. */
  private static List<String> obstacles(HostFacts facts) {
    return facts.agent().isEmpty() ? facts.withJava("copied").problems() : List.of();
  }

  private HostFacts facts(RemoteHost host) throws IOException, InterruptedException {
    long before = epochSecond();
    Map<String, String> said = ssh.script(host, HostFacts.script(folder, host, List.of())).facts();
    return HostFacts.of(said, before, epochSecond());
  }

  private long epochSecond() {
    return wait.here().nowMillis() / 1000;
  }

  /** Returns the work that cloud-init still does; it has run the setup commands when it is done. */
  private Optional<String> setup(RemoteHost host)
      throws RemoteHosts.NotReadyException, IOException, InterruptedException {
    Map<String, String> said = ssh.script(host, SETUP).facts();
    String state = said.getOrDefault("setup", "done");
    if (state.startsWith("error")) {
      throw new RemoteHosts.NotReadyException(
          List.of(
              "%s: its setup commands failed (%s); see /var/log/cloud-init-output.log there, and"
                      .formatted(host.login(), said.getOrDefault("last", "").replace("\n", " · "))
                  + " correct `setup`"));
    }
    return state.equals("done") || state.equals("disabled")
        ? Optional.empty()
        : Optional.of("its setup commands (cloud-init: %s)".formatted(state));
  }

  /** Copies a JDK, if it is one for the processor of the host. */
  private void copyJdk(RemoteHost host)
      throws RemoteHosts.NotReadyException, IOException, InterruptedException {
    Path jdk = supplies.jdk();
    String processor = ssh.script(host, "uname -m").out().strip();
    String release = Files.readString(jdk.resolve("release"));
    if (!release.contains("OS_ARCH=\"%s\"".formatted(processor))) {
      throw new RemoteHosts.NotReadyException(
          List.of(
              "%s: no JDK 25 or newer there, and %s is not for its processor, %s; install one by `setup`, or give another --jdk"
                  .formatted(host.login(), jdk, processor)));
    }
    wait.here().say("%-24s copying the JDK %s".formatted(host.login(), jdk));
    SshClient.SshResult said =
        ssh.scriptWithInput(
            host,
            folder.make(host)
                + "rm -rf %1$s.new && mkdir %1$s.new && tar -C %1$s.new -xof - && rm -rf %1$s && mv %1$s.new %1$s\n"
                    .formatted(HostFacts.JDK),
            out -> Bundle.tar(jdk, List.of("."), out),
            SshClient.COPY_LIMIT);
    if (said.code() != 0) {
      throw new RemoteHosts.NotReadyException(
          List.of(
              "%s: the JDK could not be copied: %s; install one by `setup`"
                  .formatted(host.login(), said.err().strip())));
    }
    if (facts(host).java().isEmpty()) {
      throw new RemoteHosts.NotReadyException(
          List.of(
              "%s: the JDK that was copied is not 25 or newer; install one by `setup`"
                  .formatted(host.login())));
    }
  }
}
