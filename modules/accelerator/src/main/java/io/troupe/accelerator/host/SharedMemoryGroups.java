package io.troupe.accelerator.host;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.CollectiveFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups of ranks in the coordinator's process, over memory that they batch.
 *
 * @param deadline of each exchange, after which a rank counts as lost
 */
public record SharedMemoryGroups(Duration deadline) implements CollectiveFactory {
  private static final Logger LOG = LoggerFactory.getLogger(SharedMemoryGroups.class);

  @Override
  public List<Collective> open(int ranks) throws IOException {
    return SharedMemoryCollective.group(ranks, deadline);
  }

  @Override
  public void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
  }
}
