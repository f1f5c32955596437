package io.troupe.base.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** The command line of a sandbox's first process. */
public final class SandboxCommand {
  /** Reads the settings and the sandbox's code from standard input, and runs the code. */
  private static final String BOOTSTRAP =
      """
      import json, os, struct, sys
      sys.path.remove("")
      size, = struct.unpack(">I", os.read(0, 4))
      data = b""
      while len(data) < size:
          data += os.read(0, size - len(data))
      order = json.loads(data)
      scope = {"__name__": "sandbox", "SETTINGS": order["settings"]}
      for name, text in order["sources"]:
          exec(compile(text, name, "exec"), scope)
      """;

  private static final Path USR = Path.of("/usr");
  private static final List<String> SYSTEM = List.of("/bin", "/sbin", "/lib", "/lib32", "/lib64");
  private static final List<String> DEVICES =
      List.of("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom");

  /**
   * Folders that a program finds where there is something to put into them, beside {@code /tmp}.
   */
  public static final List<String> FOLDERS =
      List.of("/app", "/data", "/logs", "/srv", "/testbed", "/tests", "/workspace");

  private SandboxCommand() {}

  /**
   * The command of one worker.
   *
   * @param namespaces whether it has namespaces of its own, made by bubblewrap
   * @param python the real path of the interpreter
   * @param uid the user id of the worker, if this process runs as root
   */
  public static List<String> of(boolean namespaces, Path python, OptionalInt uid) {
    List<String> command = new ArrayList<>();
    if (namespaces) {
      command.addAll(as(uid));
      command.addAll(bubblewrap(python));
    }
    // Not -I: it would ignore PYTHONHASHSEED; sets of texts would then iterate in an order that
    // differs from worker to worker, and verdicts would differ too. The environment is empty
    // otherwise.
    command.addAll(List.of(python.toString(), "-S", "-s", "-c", BOOTSTRAP));
    return command;
  }

  /**
   * The command of a program of the user's, which has its own environment and standard streams.
   *
   * @param python the real path of the interpreter of the sandbox's first process
   * @param uid the user id of the program, if this process runs as root
   * @param box content of the program's sandbox
   */
  public static List<String> of(Path python, OptionalInt uid, ProgramBox box) {
    List<String> command = new ArrayList<>(as(uid));
    command.addAll(namespaces());
    command.addAll(List.of("--cap-drop", "ALL"));
    command.addAll(List.of("--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"));
    command.addAll(system(python));
    command.addAll(List.of("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"));
    command.addAll(List.of("--symlink", "/proc/self/fd", "/dev/fd"));
    command.addAll(box.mounts());
    command.addAll(List.of("--remount-ro", "/", "--chdir", box.folder().toString()));
    command.addAll(List.of(python.toString(), "-S", "-s", "-c", box.code()));
    command.addAll(box.arguments());
    return command;
  }

  /**
   * Linux does not count root's processes against a limit, and root's user namespace would map
   * root.
   */
  private static List<String> as(OptionalInt uid) {
    if (uid.isEmpty()) {
      return List.of();
    }
    String id = Integer.toString(uid.getAsInt());
    return List.of("setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups", "--no-new-privs");
  }

  private static List<String> namespaces() {
    List<String> command = new ArrayList<>();
    command.add("bwrap");
    command.addAll(List.of("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"));
    command.addAll(List.of("--unshare-uts", "--unshare-cgroup-try"));
    command.addAll(List.of("--die-with-parent", "--as-pid-1", "--new-session"));
    command.addAll(List.of("--uid", "65534", "--gid", "65534", "--hostname", "sandbox"));
    return command;
  }

  private static List<String> bubblewrap(Path python) {
    List<String> command = new ArrayList<>(namespaces());
    // The first process makes a namespace for each program. The judge and the program drop the
    // capability.
    command.addAll(List.of("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"));
    command.addAll(List.of("--clearenv", "--setenv", "PYTHONHASHSEED", "0"));
    command.addAll(List.of("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"));
    command.addAll(system(python));
    FOLDERS.forEach(folder -> command.addAll(List.of("--dir", folder)));
    command.addAll(List.of("--dir", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"));
    return command;
  }

  /** The system's programs and devices, which can only be read. */
  private static List<String> system(Path python) {
    List<String> command = new ArrayList<>(List.of("--ro-bind", "/usr", "/usr"));
    for (String folder : SYSTEM) {
      command.addAll(systemFolder(Path.of(folder)));
    }
    command.addAll(List.of("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"));
    if (!python.startsWith(USR)) {
      // The interpreter's installation: the folder that holds bin/python and lib.
      String prefix = python.resolve("../..").normalize().toString();
      command.addAll(List.of("--ro-bind", prefix, prefix));
    }
    command.addAll(List.of("--proc", "/proc"));
    for (String device : DEVICES) {
      command.addAll(List.of("--dev-bind", device, device));
    }
    return command;
  }

  private static List<String> systemFolder(Path folder) {
    if (!Files.isSymbolicLink(folder)) {
      return Files.isDirectory(folder)
          ? List.of("--ro-bind", folder.toString(), folder.toString())
          : List.of();
    }
    try {
      Path target = Files.readSymbolicLink(folder);
      return List.of("--symlink", target.toString(), folder.toString());
    } catch (IOException e) {
      return List.of();
    }
  }
}
