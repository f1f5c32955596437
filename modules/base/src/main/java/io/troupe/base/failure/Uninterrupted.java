package io.troupe.base.failure;

/** Waits that an interrupt does not shorten; the caller's thread is interrupted afterwards. */
public final class Uninterrupted {
  private Uninterrupted() {}

  /** Waits until a thread has ended. */
  public static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
