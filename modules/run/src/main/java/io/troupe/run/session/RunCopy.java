package io.troupe.run.session;

import io.troupe.config.SyncKeys;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.s3.S3Bucket;
import io.troupe.sync.CopyAccess;
import io.troupe.sync.RunSync;
import io.troupe.sync.SyncProgress;
import io.troupe.sync.SyncSettings;
import io.troupe.telemetry.view.CopyView;
import io.troupe.telemetry.view.InfrastructureTroubles;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** The copy of a run on S3, if {@code run.sync} asks for one, and what is said about it. */
public final class RunCopy implements AutoCloseable {
  /** The time for which the start of a run waits for the store. */
  private static final Duration ACCESS_TIMEOUT = Duration.ofSeconds(10);

  private final Optional<RunSync> sync;
  private final String target;
  private final RunFolder folder;
  private final Consumer<String> say;
  private final InfrastructureTroubles troubles = new InfrastructureTroubles();
  private volatile Consumer<CopyView> watcher = _ -> {};
  private volatile CopyView last = new CopyView("", 1, 0, 0, "");

  private RunCopy(SyncKeys keys, RunFolder folder, Consumer<String> say) {
    this.folder = folder;
    this.say = say;
    this.target = keys.sync().isEmpty() ? "" : target(keys.sync(), folder.name());
    this.sync =
        target.isEmpty()
            ? Optional.empty()
            : Optional.of(
                RunSync.start(
                    folder,
                    new S3Bucket(keys.settings(), target),
                    target,
                    new SyncSettings(keys.syncEvery(), keys.bytesPerSecond(), keys.syncAtEnd()),
                    false,
                    this::onProgress));
  }

  /**
   * Starts to copy, if the configuration says where to.
   *
   * @param say takes a sentence when the copy stops, and when it works again
   */
  public static RunCopy start(SyncKeys keys, RunFolder folder, Consumer<String> say) {
    return new RunCopy(keys, folder, say);
  }

  /**
   * Refuses a run that begins if the place of its copy refuses this process. An outage refuses
   * nothing: the copy waits for its end.
   */
  public static void check(ResolvedConfig<?> resolved, SyncKeys keys) throws InterruptedException {
    if (keys.sync().isEmpty()) {
      return;
    }
    CopyAccess access =
        CopyAccess.ask(
            () -> new S3Bucket(keys.settings(), keys.sync()), keys.sync(), ACCESS_TIMEOUT);
    if (access instanceof CopyAccess.Refused(String reason)) {
      resolved.check(
          (_, rules) ->
              rules
                  .on("run.sync")
                  .require(
                      () -> false,
                      "must be a place that takes the run's copy, and refuses it: " + reason,
                      "mend that, or begin without a copy: --set run.sync="));
    }
  }

  /** Returns the place of a run's copy. */
  static String target(String place, String run) {
    return (place.endsWith("/") ? place : place + "/") + run + "/";
  }

  /** Shows the copy's progress from now on. */
  void watch(Consumer<CopyView> next) {
    watcher = next;
    if (sync.isPresent()) {
      next.accept(last);
    }
  }

  /** A checkpoint was saved. */
  public void checkpointed() {
    sync.ifPresent(RunSync::changed);
  }

  private void onProgress(SyncProgress progress) {
    CopyView view =
        new CopyView(
            target, progress.objects(), progress.bytes(), progress.since(), progress.problem());
    last = view;
    troubles.copy(System.currentTimeMillis(), view).ifPresent(say);
    watcher.accept(view);
  }

  @Override
  public void close() {
    if (sync.isPresent()) {
      sync.get().close();
      SyncProgress end = sync.get().progress();
      say.accept(
          end.complete()
              ? "copy   " + target
              : "copy   %s lacks %d files or checkpoints, %,d bytes%s; send them: troupe runs sync %s"
                  .formatted(
                      target,
                      end.objects(),
                      end.bytes(),
                      end.problem().isEmpty() ? "" : " (" + end.problem() + ")",
                      folder.path()));
    }
  }
}
