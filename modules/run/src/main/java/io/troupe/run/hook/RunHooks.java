package io.troupe.run.hook;

import io.troupe.config.HooksSection;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Starts the programs that {@code on} names, one after the other, on a thread that nothing of the
 * run waits for. A hook runs at least once for each checkpoint and evaluation, and once if no
 * process dies meanwhile: what has ended is in {@link HookCursor}, and a process that resumes the
 * run begins with the checkpoints behind it.
 */
public final class RunHooks implements AutoCloseable {
  /** The folder of the state and the logs, in the run folder. */
  private static final String FOLDER = "hooks";

  private static final int MOST_WAITING = 64;

  /** The kinds of hooks. */
  private enum Kind {
    CHECKPOINT,
    EVALUATION,
    END
  }

  private record Due(Kind kind, long step, Path folder) {}

  private final HooksSection keys;
  private final RunFolder folder;
  private final Consumer<String> say;
  private final BlockingQueue<Due> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private final Path state;
  private final Thread thread;
  private volatile HookCursor cursor;
  private OptionalLong endStep = OptionalLong.empty();
  private volatile long endAt = Long.MAX_VALUE;
  private volatile boolean ending;

  private RunHooks(HooksSection keys, RunFolder folder, Consumer<String> say) throws IOException {
    this.keys = keys;
    this.folder = folder;
    this.say = say;
    this.state = folder.path().resolve(FOLDER).resolve("state.json");
    this.cursor = HookCursor.read(state);
    this.thread = Thread.ofPlatform().name("hooks").daemon().unstarted(this::run);
  }

  /**
   * Opens the hooks of a run, and starts those of checkpoints that a former process left.
   *
   * @param say takes a sentence when a hook fails
   */
  public static RunHooks open(HooksSection keys, RunFolder folder, Consumer<String> say)
      throws IOException {
    RunHooks hooks = new RunHooks(keys, folder, say);
    if (keys.any()) {
      Files.createDirectories(folder.path().resolve(FOLDER));
      for (Checkpoint one : Checkpoints.view(folder.checkpoints()).list().whole()) {
        if (one.step() > hooks.cursor.checkpoint()) {
          hooks.checkpoint(one.step());
        }
      }
      hooks.thread.start();
    }
    return hooks;
  }

  /** A checkpoint is durable. */
  public void checkpoint(long step) {
    if (!keys.checkpoint().isEmpty()) {
      Path of = folder.checkpoints().resolve("step" + step);
      add(new Due(Kind.CHECKPOINT, step, of));
    }
  }

  /** A step was evaluated. */
  public void evaluation(long step) {
    if (!keys.evaluation().isEmpty() && step > cursor.evaluation()) {
      add(new Due(Kind.EVALUATION, step, folder.path()));
    }
  }

  /** The run has ended in order; the hook starts with {@link #close}, behind all others. */
  public void end(long step) {
    endStep = OptionalLong.of(step);
  }

  private void add(Due due) {
    if (!waiting.offer(due)) {
      say.accept(
          "hooks are behind: %d wait, and on.%s is not run for step %d"
              .formatted(MOST_WAITING, name(due.kind()), due.step()));
    }
  }

  private static String name(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private void run() {
    try {
      while (true) {
        Due due = waiting.poll(100, TimeUnit.MILLISECONDS);
        if (due != null) {
          run(due);
        } else if (ending) {
          return;
        }
      }
    } catch (InterruptedException stop) {
      waiting.forEach(
          due ->
              say.accept("on.%s is not run for step %d".formatted(name(due.kind()), due.step())));
    }
  }

  private void run(Due due) throws InterruptedException {
    HookProgram program =
        new HookProgram(
            name(due.kind()),
            command(due.kind()),
            due.folder().toAbsolutePath().normalize(),
            Map.of(
                "TROUPE_RUN",
                folder.path().toAbsolutePath().normalize().toString(),
                "TROUPE_STEP",
                Long.toString(due.step())),
            folder.path().resolve(FOLDER).resolve(name(due.kind()) + ".log"));
    String problem =
        Files.isDirectory(due.folder())
            ? program.run(limit())
            : "is not run: %s is gone".formatted(due.folder());
    if (!problem.isEmpty()) {
      say.accept(
          "on.%s of step %d %s; see %s"
              .formatted(name(due.kind()), due.step(), problem, program.log()));
    }
    try {
      cursor =
          switch (due.kind()) {
            case CHECKPOINT -> cursor.afterCheckpoint(due.step());
            case EVALUATION -> cursor.afterEvaluation(due.step());
            case END -> cursor;
          };
      cursor.write(state);
    } catch (IOException unwritten) {
      say.accept("hooks may run again after a resume: " + unwritten.getMessage());
    }
  }

  private String command(Kind kind) {
    return switch (kind) {
      case CHECKPOINT -> keys.checkpoint();
      case EVALUATION -> keys.evaluation();
      case END -> keys.end();
    };
  }

  private Duration limit() {
    long left = endAt == Long.MAX_VALUE ? Long.MAX_VALUE : endAt - System.nanoTime();
    return Duration.ofNanos(Math.clamp(left, 1, keys.timeout().toNanos()));
  }

  /** Waits for the hooks that are left, at most for the time limit of one. */
  @Override
  public void close() {
    if (!thread.isAlive()) {
      return;
    }
    if (endStep.isPresent() && !keys.end().isEmpty()) {
      add(new Due(Kind.END, endStep.getAsLong(), folder.path()));
    }
    endAt = System.nanoTime() + keys.timeout().toNanos();
    ending = true;
    try {
      if (!thread.join(keys.timeout().plusSeconds(1))) {
        thread.interrupt();
        thread.join();
      }
    } catch (InterruptedException stop) {
      thread.interrupt();
      Thread.currentThread().interrupt();
    }
  }
}
