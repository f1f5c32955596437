package io.troupe.environments.command;

import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The processes of an environment's program. Each serves one episode at a time, and then the next
 * one; an episode waits while all are taken.
 */
final class CommandPool implements EnvironmentPool {
  private final ProgramSettings settings;
  private final ProcessSlots<JsonLineProgram> slots;
  private final ConcurrentLinkedDeque<JsonLineProgram> idle = new ConcurrentLinkedDeque<>();

  CommandPool(ProgramSettings settings) {
    this.settings = settings;
    this.slots =
        new ProcessSlots<>(
            "environments",
            settings.count(),
            _ -> EnvironmentProcess.start(settings),
            JsonLineProgram::close);
  }

  @Override
  public Environment newEnvironment() {
    return new CommandEnvironment(this, settings);
  }

  /**
   * Takes a process; blocks while there is none.
   *
   * @throws EnvironmentFailedException if it cannot be started, or the pool is closed
   */
  JsonLineProgram take() {
    slots.acquire();
    try {
      Optional<JsonLineProgram> waiting = Optional.ofNullable(idle.poll());
      waiting.filter(program -> !program.isAlive()).ifPresent(slots::end);
      return waiting.filter(JsonLineProgram::isAlive).orElseGet(slots::start);
    } catch (EnvironmentFailedException failure) {
      slots.release();
      throw failure;
    }
  }

  /** Takes a process back; one that ended is replaced by the next episode. */
  void give(JsonLineProgram program) {
    if (program.isAlive() && !slots.isClosed()) {
      idle.push(program);
    } else {
      slots.end(program);
    }
    slots.release();
  }

  @Override
  public void close() {
    slots.close();
  }
}
