package io.troupe.launch.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The findings of a look at a host, without a run.
 *
 * @param problems obstacles to a launch, each with the next step
 * @param facts other facts of the host
 * @param drivers versions of NVIDIA's driver; none on a host without one
 * @param blocked other hosts, {@code ADDRESS:PORT}, that the host cannot reach
 */
public record HostDiagnosis(
    String host,
    List<String> problems,
    String facts,
    List<GpuUse> gpus,
    List<String> drivers,
    List<String> blocked) {
  public HostDiagnosis {
    problems = List.copyOf(problems);
    gpus = List.copyOf(gpus);
    drivers = List.copyOf(drivers);
    blocked = List.copyOf(blocked);
  }

  /**
   * Looks at every host of a hosts file, over ssh.
   *
   * @param options more options of ssh
   * @param ports that must be free on each host, and that the hosts must reach each other at
   */
  public static List<HostDiagnosis> of(Path hosts, List<String> options, List<Integer> ports)
      throws IOException, InterruptedException {
    List<RemoteHost> all = RemoteHost.read(hosts);
    SshClient ssh = new SshClient(options, Files.createTempDirectory("troupe-ssh"));
    List<HostDiagnosis> found = new ArrayList<>();
    try {
      for (RemoteHost host : all) {
        found.add(look(ssh, host, all, ports, Clock.systemUTC()));
      }
    } finally {
      ssh.close(all);
    }
    return found;
  }

  static HostDiagnosis look(
      SshClient ssh, RemoteHost host, List<RemoteHost> all, List<Integer> ports, Clock clock)
      throws InterruptedException {
    try {
      long before = clock.instant().getEpochSecond();
      RemoteFolder folder = new RemoteFolder(RemoteFolder.DEFAULT);
      Map<String, String> said = ssh.script(host, HostFacts.script(folder, host, ports)).facts();
      HostFacts facts = HostFacts.of(said, before, clock.instant().getEpochSecond());
      Map<String, String> more = ssh.script(host, script(host, all, ports)).facts();
      return new HostDiagnosis(
          host.login(),
          facts.problems(),
          "%s · %d GiB free · clock %+d s"
              .formatted(
                  facts.java().isEmpty() ? "no JDK" : facts.java(),
                  facts.freeKib() >> 20,
                  facts.skewSeconds()),
          facts.gpus().stream().flatMap(line -> GpuUse.parse(line).stream()).toList(),
          lines(more, "driver"),
          lines(more, "blocked"));
    } catch (IOException unreachable) {
      return new HostDiagnosis(
          host.login(),
          List.of(String.valueOf(unreachable.getMessage())),
          "unreachable",
          List.of(),
          List.of(),
          List.of());
    }
  }

  private static List<String> lines(Map<String, String> said, String key) {
    return said.getOrDefault(key, "").lines().toList();
  }

  /**
   * A port without a listener refuses, which shows that packets arrive; a packet filter lets the
   * attempt wait.
   */
  private static String script(RemoteHost from, List<RemoteHost> all, List<Integer> ports) {
    StringBuilder peers = new StringBuilder();
    for (RemoteHost each : all) {
      if (!each.equals(from)) {
        ports.forEach(port -> peers.append(" %s:%d".formatted(each.address(), port)));
      }
    }
    return """
        export LC_ALL=C PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/cuda/bin
        command -v nvidia-smi >/dev/null &&
          nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -u | sed 's/^/driver=/'
        for peer in%s; do
          said=$(timeout 4 bash -c "exec 3<>/dev/tcp/${peer%%:*}/${peer##*:}" 2>&1) && continue
          case "$said" in *refused*) ;; *) echo "blocked=$peer" ;; esac
        done
        exit 0
        """
        .formatted(peers);
  }
}
