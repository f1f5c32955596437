package io.troupe.testkit;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Feeds a check with random and mutated texts until one makes it throw or hang.
 *
 * <p>Inputs are numbered from 1, and the number is the input's seed: a failure prints it together
 * with the input, and {@link #text(long)} makes the same one again. The short form runs a fixed
 * number of inputs; with {@code -Dtroupe.fuzz.seconds=N} it runs for N seconds instead, and with
 * {@code -Dtroupe.fuzz.seed=N} from another input on.
 *
 * <p>An input that takes more than {@value #DEADLINE_MILLIS} ms of processor time fails, {@value
 * #TRIES} times in a row; a busy machine does not lengthen that. A watchdog ends the run when an
 * input takes more than {@value #PATIENCE_SECONDS} s of it, and shows where the check was.
 *
 * <pre>{@code
 * new Fuzz("math", corpus, List.of("\\frac{", "^", "}")).run(20_000, (text, random) -> {
 *   verifier.verify(prompt, text);
 * });
 * }</pre>
 */
public final class Fuzz {
  private static final int DEADLINE_MILLIS = 2_000;
  private static final int PATIENCE_SECONDS = 20;
  private static final int TRIES = 3;
  private static final int MOST_CHARACTERS = 20_000;

  private final String name;
  private final List<String> corpus;
  private final List<String> dictionary;

  /** The code that runs on each input. It fails by throwing. */
  @FunctionalInterface
  public interface FuzzedCode {
    /**
     * Runs the code under test.
     *
     * @param random for further choices; its state follows from the input's seed
     */
    void accept(String text, Random random) throws Exception;
  }

  /**
   * @param name of the check, for messages
   * @param corpus well-formed inputs to mutate
   * @param dictionary pieces that mean something to the code under test
   */
  public Fuzz(String name, List<String> corpus, List<String> dictionary) {
    this.name = name;
    this.corpus = List.copyOf(corpus);
    this.dictionary = List.copyOf(dictionary);
  }

  /** Runs this number of inputs, or for the seconds the property asks for. */
  public void run(long inputs, FuzzedCode check) {
    Integer seconds = Integer.getInteger("troupe.fuzz.seconds");
    long first = Long.getLong("troupe.fuzz.seed", 0);
    AtomicLong seed = new AtomicLong(first);
    AtomicLong began = new AtomicLong(Long.MAX_VALUE); // nothing counts before it begins
    AtomicReference<Thread> worker = new AtomicReference<>(Thread.currentThread());
    try (var executor =
        Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().daemon().name("fuzz " + name).unstarted(task))) {
      Future<?> running =
          executor.submit(
              () -> {
                worker.set(Thread.currentThread());
                long end = seconds == null ? 0 : System.nanoTime() + seconds * 1_000_000_000L;
                while (seconds == null ? seed.get() - first < inputs : System.nanoTime() < end) {
                  began.set(processorTime(Thread.currentThread()));
                  one(seed.incrementAndGet(), check);
                }
                return null;
              });
      supervise(running, seed, began, worker);
      System.out.printf("fuzz %s: %,d inputs%n", name, seed.get() - first);
      executor.shutdown();
    }
  }

  private void supervise(
      Future<?> running, AtomicLong seed, AtomicLong began, AtomicReference<Thread> worker) {
    while (true) {
      try {
        running.get(1, TimeUnit.SECONDS);
        return;
      } catch (TimeoutException _) {
        long taken = (processorTime(worker.get()) - began.get()) / 1_000_000_000L;
        if (taken > PATIENCE_SECONDS) {
          throw stuck(seed.get(), worker.get());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("fuzz %s was interrupted".formatted(name), e);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof AssertionError error ? error : new AssertionError(e);
      }
    }
  }

  /** Halts the virtual machine after reporting why: a stuck thread cannot be ended otherwise. */
  private AssertionError stuck(long seed, Thread worker) {
    StringBuilder where = new StringBuilder();
    for (StackTraceElement frame : worker.getStackTrace()) {
      where.append("\n    at ").append(frame);
    }
    System.err.printf(
        "fuzz %s: seed %d takes more than %d s of processor time: %s%s%n",
        name, seed, PATIENCE_SECONDS, escaped(text(seed)), where);
    System.err.flush();
    Runtime.getRuntime().halt(70);
    return new AssertionError();
  }

  /** The first inputs find code that was never run, so one that is late is tried again. */
  private void one(long seed, FuzzedCode check) {
    long best = Long.MAX_VALUE;
    for (int i = 0; i < TRIES && best > DEADLINE_MILLIS; i++) {
      best = Math.min(best, millis(seed, check));
    }
    if (best > DEADLINE_MILLIS) {
      String late = "it took %,d ms of processor time".formatted(best);
      throw failure(seed, new AssertionError(late));
    }
  }

  /** Processor time of the check of an input. */
  private long millis(long seed, FuzzedCode check) {
    Random random = new Random(seed);
    String text = text(random);
    long start = processorTime(Thread.currentThread());
    try {
      check.accept(text, random);
    } catch (Throwable e) { // also StackOverflowError and OutOfMemoryError
      throw failure(seed, e);
    }
    return (processorTime(Thread.currentThread()) - start) / 1_000_000;
  }

  private AssertionError failure(long seed, Throwable cause) {
    return new AssertionError(
        "fuzz %s: seed %d, input %s".formatted(name, seed, escaped(text(seed))), cause);
  }

  private static long processorTime(Thread thread) {
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
  }

  /** The input of a seed. */
  public String text(long seed) {
    return text(new Random(seed));
  }

  private String text(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> units(random, 1 << 16);
      case 1 -> units(random, 128);
      case 2 -> pieces(random);
      default -> mutated(random);
    };
  }

  private static String units(Random random, int bound) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(200); i > 0; i--) {
      text.append((char) random.nextInt(bound));
    }
    return text.toString();
  }

  private String pieces(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(60); i > 0; i--) {
      text.append(piece(random));
    }
    return text.toString();
  }

  private String piece(Random random) {
    return dictionary.get(random.nextInt(dictionary.size()));
  }

  private String mutated(Random random) {
    StringBuilder text = new StringBuilder(corpus.get(random.nextInt(corpus.size())));
    for (int i = random.nextInt(6); i > 0 && text.length() < MOST_CHARACTERS; i--) {
      int from = random.nextInt(text.length() + 1);
      int to = Math.min(text.length(), from + random.nextInt(12));
      String cut = text.substring(from, to);
      switch (random.nextInt(8)) {
        case 0 -> text.delete(from, to);
        case 1 -> text.insert(from, cut);
        case 2 -> text.insert(from, cut.repeat(random.nextInt(60)));
        case 3 -> text.insert(from, piece(random).repeat(random.nextInt(60)));
        case 4 -> text.insert(random.nextInt(text.length() + 1), cut);
        case 5 -> text.setLength(from);
        case 6 -> text.append(cut);
        default -> text.insert(from, piece(random));
      }
    }
    if (random.nextInt(10) == 0) {
      text.append(corpus.get(random.nextInt(corpus.size())));
    }
    return text.toString();
  }

  /** Printable ASCII; everything else as Java escapes. */
  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        escaped.append('\\').append(c);
      } else if (c >= ' ' && c < 127) {
        escaped.append(c);
      } else {
        escaped.append("\\u%04x".formatted((int) c));
      }
    }
    return escaped.append('"').toString();
  }
}
