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
      if (uid.isPresent()) {
        // Linux does not count root's processes against a limit, and root's user namespace would
        // map root.
        String id = Integer.toString(uid.getAsInt());
        command.addAll(List.of("setpriv", "--reuid=" + id, "--regid=" + id));
        command.addAll(List.of("--clear-groups", "--no-new-privs"));
      }
      command.addAll(bubblewrap(python));
    }
    // Not -I: it would ignore PYTHONHASHSEED; sets of texts would then iterate in an order that
    // differs from worker to worker, and verdicts would differ too. The environment is empty
    // otherwise.
    command.addAll(List.of(python.toString(), "-S", "-s", "-c", BOOTSTRAP));
    return command;
  }

  private static List<String> bubblewrap(Path python) {
    List<String> command = new ArrayList<>();
    command.add("bwrap");
    command.addAll(List.of("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"));
    command.addAll(List.of("--unshare-uts", "--unshare-cgroup-try"));
    command.addAll(List.of("--die-with-parent", "--as-pid-1", "--new-session"));
    command.addAll(List.of("--uid", "65534", "--gid", "65534", "--hostname", "sandbox"));
    // The first process makes a namespace for each program. The judge and the program drop the
    // capability.
    command.addAll(List.of("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"));
    command.addAll(List.of("--clearenv", "--setenv", "PYTHONHASHSEED", "0"));
    command.addAll(List.of("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"));
    command.addAll(List.of("--ro-bind", "/usr", "/usr"));
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
    FOLDERS.forEach(folder -> command.addAll(List.of("--dir", folder)));
    command.addAll(List.of("--dir", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"));
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
