package io.troupe.environments.container;

import io.troupe.base.process.ProcessGroup;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A program in a container that carries out orders, one after the other. It ends each by a line of
 * its output: a nonce, the number of the order, and an exit code. A program that forges that line
 * deceives only the policy that runs it.
 */
public final class ContainerSession implements AutoCloseable {
  private static final int LONGEST_LINE = 4096;
  private static final int LATE = -2;
  private static final int GONE = -1;

  private final ProcessGroup program;
  private final String nonce;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream(); // guarded by this
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(); // guarded by this
  private boolean whole = true; // guarded by this: the line began with its first byte
  private long dropped; // guarded by this
  private int most; // guarded by this
  private int number; // guarded by this
  private CompletableFuture<Integer> exit = new CompletableFuture<>(); // guarded by this
  private boolean over; // guarded by this

  ContainerSession(ProcessGroup program, String nonce) {
    this.program = program;
    this.nonce = nonce;
    var _ = ContainerEngine.onThread(() -> take(program.output()));
  }

  /** The end of an order. */
  public enum End {
    DONE,
    LATE,
    /** The program has ended. */
    GONE
  }

  /** The result of an order: its output, and its exit code if it is done. */
  public record Reply(End end, String text, int exit) {}

  /** Makes the bytes of an order from its number. */
  public interface Order {
    /** Returns the bytes that the program reads. */
    String text(int number);
  }

  /** Carries out an order, and returns at its end, the end of the program, or the limit. */
  public Reply carryOut(Order order, Duration limit, int mostBytes) {
    CompletableFuture<Integer> awaited = new CompletableFuture<>();
    String text;
    synchronized (this) {
      exit = awaited;
      most = mostBytes;
      number++;
      text = order.text(number);
      if (over) {
        awaited.complete(GONE);
      }
    }
    var _ = ContainerEngine.onThread(() -> send(text));
    int status = awaited.completeOnTimeout(LATE, limit.toMillis(), TimeUnit.MILLISECONDS).join();
    End end = status == LATE ? End.LATE : status == GONE ? End.GONE : End.DONE;
    return new Reply(end, shown(end), end == End.DONE ? status : 1);
  }

  private boolean send(String text) {
    try {
      program.leader().getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      program.leader().getOutputStream().flush();
      return true;
    } catch (IOException ended) {
      return false; // the end of its output says so, too
    }
  }

  private synchronized String shown(End end) {
    if (end != End.DONE) {
      keep(line.toByteArray());
      line.reset();
      whole = false;
    }
    String text = kept.toString(StandardCharsets.UTF_8).replaceAll("^\n+|\n+$", "");
    String more = dropped == 0 ? "" : "\n[%d more bytes are not shown]".formatted(dropped);
    kept.reset();
    dropped = 0;
    return text + more;
  }

  private boolean take(InputStream output) throws IOException {
    try (InputStream in = new BufferedInputStream(output)) {
      for (int next = in.read(); next >= 0; next = in.read()) {
        take(next);
      }
    } finally {
      synchronized (this) {
        over = true;
        exit.complete(GONE);
      }
    }
    return true;
  }

  private synchronized void take(int next) {
    line.write(next);
    if (next == '\n' || line.size() == LONGEST_LINE) {
      if (!whole || next != '\n' || !isEnd(line.toString(StandardCharsets.UTF_8))) {
        keep(line.toByteArray());
      }
      whole = next == '\n';
      line.reset();
    }
  }

  private synchronized void keep(byte[] bytes) {
    int room = Math.min(bytes.length, Math.max(0, most - kept.size()));
    kept.write(bytes, 0, room);
    dropped += bytes.length - room;
  }

  private synchronized boolean isEnd(String line) {
    String[] words = line.strip().split(" ", -1);
    if (words.length != 3 || !words[0].equals(nonce) || !words[2].matches("-?\\d{1,5}")) {
      return false;
    }
    if (words[1].equals(Integer.toString(number))) {
      exit.complete(Integer.parseInt(words[2]) & 0xFF);
    }
    return true;
  }

  @Override
  public void close() {
    program.close();
  }
}
