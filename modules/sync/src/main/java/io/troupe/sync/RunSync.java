package io.troupe.sync;

import io.troupe.core.outage.Backoff;
import io.troupe.store.file.LockedFile;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.objects.ObjectStore;
import io.troupe.sync.plan.SyncPlan;
import io.troupe.sync.plan.UploadSizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Copies a run folder while the run continues, on a thread of its own that no other thread waits
 * for. A store that fails is asked again, at most a minute later, for as long as it takes; what is
 * not stored stays on the disk, where the next process finds it. Training never notices.
 */
public final class RunSync implements AutoCloseable {
  private static final Backoff PAUSES = new Backoff(1_000, 60_000);

  private final RunFolder folder;
  private final ObjectStore store;
  private final String target;
  private final SyncSettings settings;
  private final boolean takeOver;
  private final Consumer<SyncProgress> watcher;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private Optional<LockedFile> held = Optional.empty();
  private Optional<Uploader> uploader = Optional.empty();
  private Pace pace;
  private volatile SyncProgress last = new SyncProgress(1, 0, System.currentTimeMillis(), "");
  private long lookAt = System.nanoTime();
  private int failures;
  private boolean asked;
  private long endAt = Long.MAX_VALUE;
  private boolean over;

  private RunSync(
      RunFolder folder,
      ObjectStore store,
      String target,
      SyncSettings settings,
      boolean takeOver,
      Consumer<SyncProgress> watcher) {
    this.folder = folder;
    this.store = store;
    this.target = target;
    this.settings = settings;
    this.takeOver = takeOver;
    this.watcher = watcher;
    this.pace = new Pace(settings.bytesPerSecond(), System.nanoTime());
    this.thread = Thread.ofPlatform().name("run-sync").daemon().unstarted(this::run);
  }

  /**
   * Starts to copy.
   *
   * @param store below the copy's place; closed with this
   * @param target that place, as people write it, ending with a slash
   * @param takeOver whether a copy that another folder writes becomes this folder's
   * @param watcher takes each change of what is behind, on the thread of the copy
   */
  public static RunSync start(
      RunFolder folder,
      ObjectStore store,
      String target,
      SyncSettings settings,
      boolean takeOver,
      Consumer<SyncProgress> watcher) {
    RunSync sync = new RunSync(folder, store, target, settings, takeOver, watcher);
    sync.thread.start();
    return sync;
  }

  /** Says that a checkpoint was saved, or that the run has ended: looked at soon. */
  public void changed() {
    lock.lock();
    try {
      asked = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    try {
      while (pause()) {
        try {
          work();
          failures = 0;
        } catch (CopyTakenException taken) {
          tell(last.objects(), last.bytes(), String.valueOf(taken.getMessage()));
          return;
        } catch (IOException failure) {
          failures++;
          SyncProgress left = behind(String.valueOf(failure.getMessage()));
          tell(left.objects(), left.bytes(), left.problem());
        }
      }
    } catch (RuntimeException defect) {
      tell(last.objects(), last.bytes(), "a defect has ended the copy: " + defect);
      throw defect;
    } finally {
      store.close();
      release();
    }
  }

  private void release() {
    try {
      if (held.isPresent()) {
        held.get().close();
      }
    } catch (IOException unlocked) {
      tell(last.objects(), last.bytes(), String.valueOf(unlocked.getMessage()));
    }
  }

  /** Locks the copy: one process at a time writes the copy of a folder. */
  private void hold() throws IOException {
    if (held.isEmpty()) {
      Path sync = Files.createDirectories(folder.path().resolve(SyncFiles.FOLDER));
      held = LockedFile.tryLock(sync, "lock");
      if (held.isEmpty()) {
        throw new CopyTakenException(
            "another process copies %s; wait until it ends".formatted(folder.path()));
      }
    }
  }

  private void work() throws IOException {
    hold();
    if (uploader.isEmpty()) {
      uploader = Optional.of(Uploader.open(folder, store, target, UploadSizes.S3, takeOver));
    }
    Uploader copy = uploader.get();
    if (copy.isLookDue() && (System.nanoTime() - lookAt >= 0 || takeAsked())) {
      look(copy);
      lookAt = System.nanoTime() + settings.every().toNanos();
    }
    long begun = System.nanoTime();
    long sent = copy.step();
    pace = pace.sent(begun, sent);
    SyncPlan.Backlog backlog = copy.backlog();
    tell(backlog.objects(), backlog.bytes(), "");
    if (sent < 0) {
      idle();
    }
  }

  /** A look that fails is still due: nothing may count as copied before a look has seen it. */
  private void look(Uploader copy) throws IOException {
    try {
      copy.look();
    } catch (IOException failure) {
      changed();
      throw failure;
    }
  }

  private boolean takeAsked() {
    lock.lock();
    try {
      boolean was = asked;
      asked = false;
      return was;
    } finally {
      lock.unlock();
    }
  }

  /** Notes that no upload is due until the next look, or, at the end, that none is due any more. */
  private void idle() {
    lock.lock();
    try {
      if (endAt != Long.MAX_VALUE && !asked) {
        over = true;
        return;
      }
      long wait = lookAt - System.nanoTime();
      while (wait > 0 && !asked && !over) {
        wait = changed.awaitNanos(wait);
      }
    } catch (InterruptedException stop) {
      over = true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits as the pace and the failures want it; false once this is to end. */
  private boolean pause() {
    lock.lock();
    try {
      long now = System.nanoTime();
      long millis = PAUSES.pauseMillis(failures, ThreadLocalRandom.current().nextDouble());
      long wait = Math.max(pace.pauseNanos(now), TimeUnit.MILLISECONDS.toNanos(millis));
      while (wait > 0 && !over) {
        long left = endAt == Long.MAX_VALUE ? wait : Math.min(wait, endAt - System.nanoTime());
        if (left <= 0) {
          over = true;
        } else {
          wait -= left - changed.awaitNanos(left);
        }
      }
      return !over && (endAt == Long.MAX_VALUE || System.nanoTime() - endAt < 0);
    } catch (InterruptedException stop) {
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void tell(int objects, long bytes, String problem) {
    boolean complete = objects == 0 && problem.isEmpty();
    SyncProgress next =
        new SyncProgress(
            objects,
            bytes,
            complete || last.complete() ? System.currentTimeMillis() : last.since(),
            problem);
    if (complete && last.complete()) {
      return;
    }
    last = next;
    watcher.accept(next);
  }

  /** The thread may wait for an answer since it began. */
  private SyncProgress unfinished() {
    return behind(
        last.problem().isEmpty()
            ? "not done within %d s".formatted(settings.atEnd().toSeconds())
            : last.problem());
  }

  /**
   * Returns the backlog by the folder alone: it grows while the store is away, and no look is due.
   */
  private SyncProgress behind(String why) {
    try {
      CopyStatus left = CopyStatus.of(folder, target);
      return new SyncProgress(left.objects(), left.bytes(), last.since(), why);
    } catch (IOException changing) { // The next one finds it at rest.
      return new SyncProgress(last.objects(), last.bytes(), last.since(), why);
    }
  }

  /** Returns the progress of the copy; for after the end. */
  public SyncProgress progress() {
    return last;
  }

  /** Looks once more and waits until everything is stored, but not longer than was set. */
  @Override
  public void close() {
    lock.lock();
    try {
      asked = true;
      endAt = System.nanoTime() + settings.atEnd().toNanos();
      failures = 0;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    boolean interrupted = false;
    try {
      if (!thread.join(settings.atEnd())) {
        thread.interrupt();
        last = unfinished();
      }
    } catch (InterruptedException stop) {
      thread.interrupt();
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
