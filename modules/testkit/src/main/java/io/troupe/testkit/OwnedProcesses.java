package io.troupe.testkit;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Processes that must not outlive the process that started them. */
public final class OwnedProcesses {
  private OwnedProcesses() {}

  /**
   * Kills an owner, and waits for the end of its processes.
   *
   * @throws TimeoutException if one of them still lives after a minute
   */
  public static void awaitEndWith(Process owner, List<ProcessHandle> owned)
      throws InterruptedException, ExecutionException, TimeoutException {
    List<CompletableFuture<ProcessHandle>> ends =
        owned.stream().map(ProcessHandle::onExit).toList();
    owner.destroyForcibly();
    CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
  }
}
