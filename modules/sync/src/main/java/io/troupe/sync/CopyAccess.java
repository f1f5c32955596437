package io.troupe.sync;

import io.troupe.store.objects.ObjectStore;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.sync.plan.RemoteIndex;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Whether a place on S3 takes a run's copy, asked before a run begins: a name or a permission that
 * is wrong stays wrong until a person mends it, and waiting as for an outage would hide it.
 */
public sealed interface CopyAccess {
  /** The store reads and writes there. */
  record Open() implements CopyAccess {}

  /** The store refuses. */
  record Refused(String reason) implements CopyAccess {}

  /** No answer: an outage, which a copy waits for. */
  record Unknown(String reason) implements CopyAccess {}

  /**
   * Asks for what a copy asks first: to read, and to begin an upload, which is aborted and leaves
   * nothing.
   *
   * @param open opens the store below the place
   * @param target the place, as people write it
   * @param patience after which no answer counts as an outage
   */
  static CopyAccess ask(Supplier<ObjectStore> open, String target, Duration patience)
      throws InterruptedException {
    CompletableFuture<CopyAccess> answer = new CompletableFuture<>();
    var _ =
        answer.completeAsync(
            () -> ask(open), task -> Thread.ofPlatform().name("copy-access").daemon().start(task));
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException silent) {
      return new Unknown("%s has not answered for %d s".formatted(target, patience.toSeconds()));
    } catch (ExecutionException defect) {
      throw new IllegalStateException(defect.getCause());
    }
  }

  private static CopyAccess ask(Supplier<ObjectStore> open) {
    try (ObjectStore store = open.get()) {
      store.read(RemoteIndex.KEY);
      store.abortUpload(RemoteIndex.KEY, store.beginUpload(RemoteIndex.KEY));
      return new Open();
    } catch (ObjectStoreException failure) {
      String reason = String.valueOf(failure.getMessage());
      return switch (failure.kind()) {
        case REFUSED, EXPIRED -> new Refused(reason);
        case UNAVAILABLE, CONFLICT, ABSENT -> new Unknown(reason);
      };
    }
  }
}
