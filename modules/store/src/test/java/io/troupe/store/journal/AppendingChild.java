package io.troupe.store.journal;

import io.troupe.store.file.JournalException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;

/**
 * Appends records for ever and prints the number of each acknowledged append; or "locked". It notes
 * the number in a file first: what is left in a pipe is no place to read from once the process is
 * killed, because the JDK empties it then, too.
 */
final class AppendingChild {
  private AppendingChild() {}

  public static void main(String[] arguments) throws IOException {
    Random random = new Random(Long.parseLong(arguments[1]));
    try (PrintStream noted = new PrintStream(arguments[2], StandardCharsets.US_ASCII)) {
      append(Journal.open(Path.of(arguments[0]), new JournalSettings(20_000, 64)), random, noted);
    } catch (JournalException.Locked refused) {
      System.out.println("locked");
    }
  }

  private static void append(Journal journal, Random random, PrintStream noted) {
    System.out.println("opened " + journal.recovery().records());
    long next = journal.lastSequence() + 1;
    JournalWriter writer = JournalWriter.start(journal, 64);
    while (true) {
      int count = 1 + random.nextInt(4);
      Durability durability = random.nextInt(50) == 0 ? Durability.SYNCED : Durability.WRITTEN;
      next += count;
      String acknowledged =
          writer
                  .append(Journals.payloads(next - count, count), durability)
                  .toCompletableFuture()
                  .join()
                  .sequence()
              + "\n";
      noted.print(acknowledged);
      noted.flush();
      System.out.print(acknowledged);
      System.out.flush();
    }
  }
}
