package io.troupe.store.folder;

import io.troupe.store.file.HostName;
import io.troupe.store.file.MachineMemory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Where, when and with what a run was started: enough to do it again. Environment variables are not
 * recorded, and a command line's value behind a name that sounds secret is replaced by ***.
 *
 * @param troupe version
 * @param started UTC, ISO 8601
 * @param memoryBytes of the machine
 * @param heapBytes at most, of this JVM
 * @param commandLine arguments of the program
 * @param seeds by what they seed
 */
public record Provenance(
    String troupe,
    String started,
    String host,
    long pid,
    String jdk,
    String os,
    int cores,
    long memoryBytes,
    long heapBytes,
    GitState git,
    List<String> commandLine,
    SortedMap<String, Long> seeds) {
  private static final Duration GIT_DEADLINE = Duration.ofSeconds(5);
  private static final Pattern SECRET_NAME =
      Pattern.compile(
          "(?i)[^=]*(token(?![a-z])|password|passwd|secret|credential|api[-_.]?key)[^=]*");

  public Provenance {
    commandLine = withoutSecrets(commandLine);
    seeds = new TreeMap<>(seeds);
  }

  /**
   * Looks around; takes as long as git does, four times five seconds at the worst.
   *
   * @param troupe this program's version
   * @param sources a folder of the source code's work tree
   */
  public static Provenance collect(
      String troupe,
      Instant started,
      Path sources,
      List<String> commandLine,
      Map<String, Long> seeds) {
    return new Provenance(
        troupe,
        started.toString(),
        HostName.name(),
        ProcessHandle.current().pid(),
        "%s %s".formatted(System.getProperty("java.vendor"), Runtime.version()),
        "%s %s %s"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch")),
        Runtime.getRuntime().availableProcessors(),
        MachineMemory.total(),
        Runtime.getRuntime().maxMemory(),
        new GitProgram(List.of("git"), sources, GIT_DEADLINE).state(),
        commandLine,
        new TreeMap<>(seeds));
  }

  /** The difference from the commit, for patches/git_diff.patch; "" when there is none. */
  public String gitDiff() {
    return switch (git) {
      case GitState.WorkTree tree -> tree.diff();
      case GitState.Absent _ -> "";
    };
  }

  /** Returns the text of git status, for patches/git_status.txt; "" when nothing differs. */
  public String gitStatus() {
    return switch (git) {
      case GitState.WorkTree tree -> tree.status();
      case GitState.Absent _ -> "";
    };
  }

  /** The content of run.json, to which a run may add its own; without the difference itself. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("troupe", troupe);
    map.put("started", started);
    map.put("host", host);
    map.put("pid", pid);
    map.put("jdk", jdk);
    map.put("os", os);
    map.put("cores", cores);
    map.put("memory_bytes", memoryBytes);
    map.put("heap_bytes", heapBytes);
    map.put("git", gitMap());
    map.put("command_line", commandLine);
    map.put("seeds", seeds);
    return map;
  }

  private Map<String, Object> gitMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    switch (git) {
      case GitState.WorkTree tree -> {
        map.put("commit", tree.commit());
        map.put("branch", tree.branch());
        map.put("dirty", tree.dirty());
        map.put("diff_cut", tree.diffCut());
      }
      case GitState.Absent(String reason) -> map.put("absent", reason);
    }
    return map;
  }

  private static List<String> withoutSecrets(List<String> arguments) {
    List<String> safe = new ArrayList<>();
    boolean secretFollows = false;
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      boolean secret = SECRET_NAME.matcher(name).matches();
      if (secretFollows && !argument.startsWith("-")) {
        safe.add("***");
      } else {
        safe.add(secret && equals >= 0 ? name + "=***" : argument);
      }
      secretFollows = secret && equals < 0 && argument.startsWith("-");
    }
    return List.copyOf(safe);
  }
}
