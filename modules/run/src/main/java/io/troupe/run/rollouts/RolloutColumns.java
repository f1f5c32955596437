package io.troupe.run.rollouts;

import io.troupe.core.rollout.ScoredGroup;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.folder.RunFolder;
import io.troupe.tasks.columns.ParquetTable.CellKind;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The columns of rollouts as rows, one a completion, with the tokens that the run stored. */
public final class RolloutColumns {
  /** Steps whose tokens are held: groups of the traces come about in the order of their steps. */
  private static final int STEPS_HELD = 4;

  private final RunFolder folder;
  private final Set<Long> stored;
  private final Map<Long, List<ScoredGroup>> held =
      new LinkedHashMap<>(STEPS_HELD, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, List<ScoredGroup>> eldest) {
          return size() > STEPS_HELD;
        }
      };

  /** The columns of a run. */
  public RolloutColumns(RunFolder folder) throws IOException {
    this.folder = folder;
    this.stored = StepTokenFiles.sizes(folder.tokens()).keySet();
  }

  /** The kinds of the columns by their names, in their order. */
  public Map<String, CellKind> kinds() {
    Map<String, CellKind> kinds = new LinkedHashMap<>();
    kinds.put("run", CellKind.TEXT);
    kinds.put("group", CellKind.INTEGER);
    kinds.put("fence", CellKind.INTEGER);
    kinds.put("completion", CellKind.INTEGER);
    kinds.put("prompt_id", CellKind.TEXT);
    kinds.put("prompt_index", CellKind.INTEGER);
    kinds.put("source", CellKind.TEXT);
    kinds.put("epoch", CellKind.INTEGER);
    kinds.put("stage", CellKind.TEXT);
    kinds.put("step", CellKind.INTEGER);
    kinds.put("worker", CellKind.TEXT);
    kinds.put("oldest_version", CellKind.INTEGER);
    kinds.put("newest_version", CellKind.INTEGER);
    kinds.put("staleness", CellKind.INTEGER);
    kinds.put("prompt", CellKind.TEXT);
    kinds.put("answer", CellKind.TEXT);
    kinds.put("text", CellKind.TEXT);
    kinds.put("reward", CellKind.NUMBER);
    kinds.put("passed", CellKind.FLAG);
    kinds.put("reason", CellKind.TEXT);
    kinds.put("advantage", CellKind.NUMBER);
    kinds.put("tokens", CellKind.INTEGER);
    kinds.put("turns", CellKind.INTEGER);
    kinds.put("stop", CellKind.TEXT);
    kinds.put("truncated", CellKind.FLAG);
    if (!stored.isEmpty()) {
      kinds.put("prompt_token_ids", CellKind.INTEGERS);
      kinds.put("token_ids", CellKind.INTEGERS);
      kinds.put("log_probs", CellKind.NUMBERS);
    }
    return kinds;
  }

  /** Returns the rows of a group. */
  public List<Map<String, Object>> rows(RolloutGroup group) throws IOException {
    List<Map<String, Object>> rows = group.rows().toList();
    Optional<ScoredGroup> tokens = tokens(group);
    for (int i = 0; i < rows.size(); i++) {
      rows.get(i).put("run", folder.name());
      if (tokens.isPresent()) {
        RolloutGroup.addTokens(tokens.get(), i, rows.get(i));
      }
    }
    return rows;
  }

  private Optional<ScoredGroup> tokens(RolloutGroup group) throws IOException {
    if (!stored.contains(group.step())) {
      return Optional.empty();
    }
    List<ScoredGroup> step = held.get(group.step());
    if (step == null) {
      step = StepTokenFiles.read(folder.tokens(), group.step());
      held.put(group.step(), step);
    }
    return step.stream().filter(each -> each.lease().equals(group.lease())).findFirst();
  }
}
