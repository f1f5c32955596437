package io.troupe.store.checkpoint;

import java.io.IOException;
import java.nio.file.Path;

/** Saves checkpoints for ever, keeps three, and prints each step saved. */
final class SavingChild {
  private SavingChild() {}

  public static void main(String[] arguments) throws IOException {
    Checkpoints checkpoints = Checkpoints.open(Path.of(arguments[0]));
    long step = checkpoints.list().newest().map(newest -> newest.step() + 1).orElse(0L);
    while (true) {
      long next = step;
      checkpoints.save(next, directory -> CheckpointsTest.write(next, directory));
      System.out.println(next);
      checkpoints.keepLast(3);
      step++;
    }
  }
}
