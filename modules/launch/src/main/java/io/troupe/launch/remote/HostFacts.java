package io.troupe.launch.remote;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The facts of a host before a launch, and their problems.
 *
 * @param skewSeconds the host's clock minus ours
 * @param java folder of its JDK; "" if none is fit
 * @param freeKib free space where the build goes
 * @param busyPorts of those needed
 * @param gpus a line a GPU, from nvidia-smi
 * @param folder objection to the folder of the launch there; "" if there is none
 * @param build digest of the build that starts there; "" if none does
 * @param agent process of an agent that runs there; "" if none
 */
public record HostFacts(
    long skewSeconds,
    String java,
    long freeKib,
    List<Integer> busyPorts,
    List<String> gpus,
    String folder,
    String build,
    String agent) {
  /** A JDK that was copied into the folder of the launch. */
  public static final String JDK = "jdk";

  private static final long MOST_SKEW = 5;
  private static final long LEAST_FREE_KIB = 4L << 20;

  public HostFacts {
    busyPorts = List.copyOf(busyPorts);
    gpus = List.copyOf(gpus);
  }

  /** A script that prints the facts, by {@code sh} and what every Linux has. */
  public static String script(RemoteFolder folder, RemoteHost host, List<Integer> ports) {
    StringBuilder hex = new StringBuilder();
    ports.forEach(port -> hex.append(" %04X:%d".formatted(port, port)));
    return folder.objection(host)
        + RemoteFolder.IS_ALIVE
        + """
        PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/cuda/bin
        echo "epoch=$(date +%%s)"
        for jdk in "$JAVA_HOME" /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/* %1$s/%3$s; do
          [ -x "$jdk/bin/java" ] && [ -r "$jdk/release" ] || continue
          version=$(sed -n 's/^JAVA_VERSION="\\([0-9]*\\).*/\\1/p' "$jdk/release")
          [ "${version:-0}" -ge 25 ] && echo "java=$jdk" && break
        done
        there=%1$s
        while [ ! -d "$there" ]; do there=$(dirname "$there"); done
        echo "free=$(df -Pk "$there" | awk 'NR==2 {print $4}')"
        for port in%2$s; do
          cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
            awk -v p=":${port%%%%:*}" '$4 == "0A" && substr($2, length($2) - 4) == p {f = 1} END {exit !f}' &&
            echo "busy=${port#*:}"
        done
        if command -v nvidia-smi >/dev/null; then
          nvidia-smi --query-gpu=index,name,memory.used,memory.total,utilization.gpu --format=csv,noheader,nounits |
            sed 's/^/gpu=/'
        fi
        [ -d %1$s ] || exit 0
        why=$(objection)
        [ -z "$why" ] || { echo "folder=$why"; exit 0; }
        cd %1$s || exit 0
        build=$(cat build 2>/dev/null) && [ -n "$build" ] && [ -d "build-$build/bin" ] && echo "build=$build"
        is_alive agent && echo "agent=$pid"
        exit 0
        """
            .formatted(folder.shellWord(host), hex, JDK);
  }

  /**
   * Reads what the script printed.
   *
   * @param before our own clock before it was asked, seconds since 1970
   * @param after and once it had answered: a clock that showed a time between is not wrong, however
   *     long that took
   */
  public static HostFacts of(Map<String, String> said, long before, long after) {
    long epoch = Long.parseLong(said.getOrDefault("epoch", "0"));
    return new HostFacts(
        epoch - Math.clamp(epoch, before, after),
        said.getOrDefault("java", ""),
        Long.parseLong(said.getOrDefault("free", "0")),
        lines(said, "busy").stream().map(Integer::parseInt).toList(),
        lines(said, "gpu"),
        said.getOrDefault("folder", ""),
        said.getOrDefault("build", ""),
        said.getOrDefault("agent", ""));
  }

  HostFacts withJava(String jdk) {
    return new HostFacts(skewSeconds, jdk, freeKib, busyPorts, gpus, folder, build, agent);
  }

  private static List<String> lines(Map<String, String> said, String key) {
    return said.containsKey(key) ? said.getOrDefault(key, "").lines().toList() : List.of();
  }

  /** Every obstacle, each with the next step. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    if (java.isEmpty()) {
      problems.add("no JDK 25 or newer in /usr/lib/jvm; install one there (temurin-25-jdk)");
    }
    if (Math.abs(skewSeconds) > MOST_SKEW) {
      problems.add(
          "its clock is %d s %s ours; start a time service (chrony, systemd-timesyncd)"
              .formatted(Math.abs(skewSeconds), skewSeconds > 0 ? "ahead of" : "behind"));
    }
    if (freeKib < LEAST_FREE_KIB) {
      problems.add(
          "%d MiB free for build and data, and %d are needed; free some, or give another --remote"
              .formatted(freeKib >> 10, LEAST_FREE_KIB >> 10));
    }
    if (!folder.isEmpty()) {
      problems.add(folder + "; give an empty folder or a new one by --remote");
    }
    if (!agent.isEmpty()) {
      problems.add(
          "an agent runs there already (process %s); troupe launch stop --hosts FILE"
              .formatted(agent));
    } else {
      for (int port : busyPorts) {
        problems.add(
            "port %d is in use; see by whom: ss -ltnp 'sport = :%d', or give another --port"
                .formatted(port, port));
      }
    }
    return problems;
  }
}
