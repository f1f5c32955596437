package io.troupe.environments.box;

import io.troupe.core.prompt.Prompt;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import java.io.IOException;
import java.util.function.Function;

/** The boxes of a worker. */
final class BoxPool implements EnvironmentPool {
  private static final String PROBE = "print(6 * 7)";
  private static final String PROBE_OUTPUT = "42";

  private final Boxes boxes;

  private final Function<Prompt, BoxTask> tasks;

  private BoxPool(BoxSettings settings, Function<Prompt, BoxTask> tasks) {
    this.tasks = tasks;
    this.boxes = Boxes.of("boxes", settings);
  }

  /** Runs a program of one line, so that a machine that can run none is refused at once. */
  static BoxPool open(BoxSettings settings, Function<Prompt, BoxTask> tasks) {
    BoxPool pool = new BoxPool(settings, tasks);
    try {
      Box probe = pool.boxes.slots().start();
      String shown = probe.carryOut("python", PROBE).path("text").asText();
      pool.boxes.slots().end(probe);
      if (!shown.equals(PROBE_OUTPUT)) {
        throw new EnvironmentFailedException(
            "the sandbox starts, and cannot run a program of one line, which shows: " + shown);
      }
      return pool;
    } catch (IOException broken) {
      pool.close();
      throw new EnvironmentFailedException(
          "the sandbox starts, and cannot run a program of one line", broken);
    } catch (EnvironmentFailedException refused) {
      pool.close();
      throw refused;
    }
  }

  @Override
  public Environment newEnvironment() {
    return new BoxEnvironment(boxes, tasks);
  }

  @Override
  public void close() {
    boxes.slots().close();
  }
}
