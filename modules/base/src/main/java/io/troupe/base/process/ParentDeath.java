package io.troupe.base.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the kernel kill a child at the death of the thread that started it, where {@code setpriv}
 * is installed. That thread must live as long as the child may.
 */
public final class ParentDeath {
  private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

  private ParentDeath() {}

  /** Returns the command line of a child that ends with its parent. */
  public static List<String> endsToo(List<String> command) {
    List<String> words = new ArrayList<>();
    if (Files.isExecutable(SETPRIV)) {
      words.addAll(List.of(SETPRIV.toString(), "--pdeathsig", "KILL", "--"));
    }
    words.addAll(command);
    return words;
  }
}
