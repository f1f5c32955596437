package io.troupe.launch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A batch script of Slurm that trains. Before the time limit Slurm signals the script, which drains
 * the coordinator alone (the nodes keep their engines until the checkpoint is whole) and puts the
 * job back into the queue; a job that starts again continues its run.
 *
 * @param name of the job
 * @param program path of troupe
 * @param folder in which the job runs
 * @param file configuration of the run
 * @param shape hosts and GPUs
 * @param limits times
 * @param more further options of sbatch
 * @param settings assignments of the command line, such as {@code training.steps=20}
 */
record SlurmScript(
    String name,
    String program,
    String folder,
    String file,
    Shape shape,
    Limits limits,
    List<String> more,
    List<String> settings) {
  private static final int PORT = 7400;

  /**
   * Hosts and GPUs of a job.
   *
   * @param gpus of each node; 0 asks for none
   * @param seeds jobs of an array, of which each has a seed of its own; 1 for no array
   * @param keys folder that {@code troupe certs} made; "" allows plain TCP
   */
  record Shape(int nodes, int gpus, int seeds, String keys) {}

  /**
   * Times of a job.
   *
   * @param time as sbatch takes it; "" for the partition's own
   * @param warning time before the limit at which the run is saved
   */
  record Limits(String time, Duration warning) {}

  SlurmScript {
    more = List.copyOf(more);
    settings = List.copyOf(settings);
  }

  /** The script. */
  String text() {
    List<String> lines = new ArrayList<>(List.of("#!/bin/bash"));
    directives().forEach(line -> lines.add("#SBATCH " + line));
    lines.add("set -u");
    lines.add("cd " + quoted(folder));
    lines.add("troupe=" + quoted(program));
    lines.add(settingsLine());
    lines.add(signals());
    lines.add(shape.nodes() == 1 ? oneNode() : manyNodes());
    lines.add(end());
    return String.join("\n", lines);
  }

  private List<String> directives() {
    List<String> options = new ArrayList<>();
    options.add("--job-name=" + name);
    options.add("--nodes=" + shape.nodes());
    options.add("--ntasks-per-node=1");
    if (shape.gpus() > 0) {
      options.add("--gpus-per-node=" + shape.gpus());
    }
    options.add("--exclusive");
    if (!limits.time().isEmpty()) {
      options.add("--time=" + limits.time());
    }
    options.add("--requeue");
    options.add("--open-mode=append");
    options.add("--signal=B:USR1@" + limits.warning().toSeconds());
    options.add("--output=" + (shape.seeds() > 1 ? "%x-%A_%a.log" : "%x-%j.log"));
    if (shape.seeds() > 1) {
      options.add("--array=0-" + (shape.seeds() - 1));
    }
    options.addAll(more);
    return options;
  }

  private String settingsLine() {
    List<String> words = new ArrayList<>();
    settings.forEach(setting -> words.add("--set " + quoted(setting)));
    if (shape.seeds() > 1) {
      words.add("--set run.seed=$((1 + SLURM_ARRAY_TASK_ID))");
      words.add("--set \"run.folder=runs/seed-$((1 + SLURM_ARRAY_TASK_ID))\"");
    }
    return "train=(train %s --continue%s)"
        .formatted(quoted(file), words.isEmpty() ? "" : " " + String.join(" ", words));
  }

  private static String signals() {
    return """

        # bash handles a signal when a wait ends, so that the run is a background process.
        # A second signal would end the run at once, without a checkpoint.
        head=
        warned=
        drained=
        drain() { [ -n "$drained" ] || [ -z "$head" ] || { drained=1; kill -TERM "$head" 2>/dev/null; }; }
        trap 'warned=1; drain' USR1
        trap 'drain' TERM
        """;
  }

  private static String oneNode() {
    return """
        srun --nodes=1 --ntasks=1 "$troupe" "${train[@]}" &
        head=$!
        nodes=
        """;
  }

  private String manyNodes() {
    String keys =
        shape.keys().isEmpty()
            ? "--allow-plain-tcp"
            : "--tls " + quoted(shape.keys()) + "/hosts/$SLURMD_NODENAME";
    return """
        first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
        export troupe first
        # A node's name is known on the node only.
        srun --overlap --kill-on-bad-exit=0 --ntasks-per-node=1 bash -c '
          exec "$troupe" node --name "$SLURMD_NODENAME" --address "$SLURMD_NODENAME" \\
            --seed "$first:%1$d" --data "${TMPDIR:-/tmp}/troupe-$SLURM_JOB_ID" %2$s' &
        nodes=$!
        srun --overlap --nodes=1 --ntasks=1 --nodelist="$first" bash -c '
          exec "$troupe" "$@" --cluster --address "$SLURMD_NODENAME" --port %1$d %2$s' \\
          run "${train[@]}" &
        head=$!
        """
        .formatted(PORT, keys);
  }

  private static String end() {
    return """
        await() {
          while :; do
            wait "$1"
            code=$?
            kill -0 "$1" 2>/dev/null || return "$code"
          done
        }
        await "$head"
        ended=$?
        if [ -n "$nodes" ]; then
          kill -TERM "$nodes" 2>/dev/null
          await "$nodes"
        fi
        # 2: the configuration is refused; 4: the run failed. Both need a person.
        if [ -n "$warned" ] && [ "$ended" -ne 2 ] && [ "$ended" -ne 4 ]; then
          scontrol requeue "$SLURM_JOB_ID" && exit 0
        fi
        exit "$ended"
        """;
  }

  /** A word of the shell. */
  private static String quoted(String word) {
    return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
