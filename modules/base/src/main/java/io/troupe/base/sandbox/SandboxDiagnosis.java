package io.troupe.base.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** Describes why a sandbox did not start, and the remedy. */
public final class SandboxDiagnosis {
  /** The message for a machine without bubblewrap. */
  public static final String NO_BUBBLEWRAP =
      "bubblewrap (bwrap) is not installed, and programs are confined by it. Debian, as"
          + " root: apt-get install bubblewrap";

  private static final String LAST_RESORT =
      ". On a machine that may be thrown away, allow_unsandboxed=true judges without a sandbox";

  private SandboxDiagnosis() {}

  /** The message for a CPU architecture without a filter of system calls. */
  public static String noFilter(String processor) {
    return "the sandbox has no filter of system calls for this processor (%s); there is one for x86-64 and ARM64. The verifier's option allow_unfiltered=true judges with namespaces alone"
        .formatted(processor);
  }

  /**
   * The message for a sandbox that did not start.
   *
   * @param output text that the first process wrote before it ended
   * @param kernelSetting reads a file under /proc; empty text if there is none
   */
  public static String of(String output, Function<String, String> kernelSetting) {
    return cause(output, kernelSetting) + LAST_RESORT;
  }

  /**
   * The message for a sandbox that starts and then fails to judge.
   *
   * @param result of a program that prints a number
   */
  public static String ofProbe(String result, Function<String, String> kernelSetting) {
    String cause =
        kernelSetting.apply("sys/kernel/seccomp/actions_avail").isBlank()
            ? "this kernel has no filters of system calls (CONFIG_SECCOMP_FILTER), which programs"
                + " are judged behind; boot one that has"
            : "the sandbox starts, and cannot judge a program of one line; look for what forbids"
                + " processes to a user (ulimit -u, the container's pids limit)";
    return "%s (%s)%s".formatted(cause, result, LAST_RESORT);
  }

  /** Returns the cause alone, without what a verifier may do instead. */
  public static String cause(String output, Function<String, String> kernelSetting) {
    String said = output.strip().replace('\n', ' ');
    if (said.contains("No module named")) {
      return "the Python of the sandbox lacks a standard module (%s). Debian, as root: apt-get install python3"
          .formatted(said);
    }
    boolean refused =
        said.contains("Operation not permitted")
            || said.contains("Permission denied")
            || said.contains("No permissions")
            || said.contains("No space left");
    if (!refused) {
      return "the sandbox does not start: " + (said.isEmpty() ? "it says nothing" : said);
    }
    if (is(kernelSetting, "sys/kernel/apparmor_restrict_unprivileged_userns", "1")) {
      return "AppArmor forbids user namespaces (%s). As root: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile for /usr/bin/bwrap"
          .formatted(said);
    }
    if (is(kernelSetting, "sys/kernel/unprivileged_userns_clone", "0")) {
      return "the kernel forbids user namespaces (%s). As root: sysctl kernel.unprivileged_userns_clone=1"
          .formatted(said);
    }
    if (is(kernelSetting, "sys/user/max_user_namespaces", "0")) {
      return "the kernel allows no user namespaces (%s). As root: sysctl user.max_user_namespaces=10000"
          .formatted(said);
    }
    if (kernelSetting.apply("self/status").contains("Seccomp:\t2")) {
      return "a seccomp filter, usually the container's, forbids namespaces (%s). Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or a profile that allows clone, unshare, setns, mount, umount2 and pivot_root"
          .formatted(said);
    }
    return "the system forbids namespaces: " + said;
  }

  private static boolean is(Function<String, String> kernelSetting, String file, String value) {
    return kernelSetting.apply(file).strip().equals(value);
  }

  /** The content of a file under /proc of this machine. */
  public static String kernelSetting(String file) {
    try {
      return Files.readString(Path.of("/proc", file));
    } catch (IOException e) {
      return "";
    }
  }
}
