package io.troupe.cli;

import java.util.List;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;

/** The list of commands in the help of {@code troupe}: by task, one line each. */
final class CommandOverview implements IHelpSectionRenderer {
  /** A command of the list; its own help has the details. */
  record Entry(String name, String summary) {}

  /** Commands for one purpose. */
  record Section(String title, List<Entry> entries) {}

  static final List<Section> SECTIONS =
      List.of(
          new Section(
              "Before a run",
              List.of(
                  new Entry("doctor", "Checks this machine, and says what to do next"),
                  new Entry("completion", "Prints a script by which bash and zsh complete"),
                  new Entry("torch", "Finds installed PyTorches and makes one usable"),
                  new Entry("models", "Fetches models by name; exports weights"),
                  new Entry(
                      "tasks",
                      "Shows tasks and their prompts; builds curricula and supervised sets"),
                  new Entry(
                      "plan", "Prints what a configuration means, and tries it on a few prompts"),
                  new Entry("simulate", "Predicts a run in virtual time"),
                  new Entry("fit", "Fits the simulator's model from a run"),
                  new Entry(
                      "whatif", "Predicts a run with keys changed, from the run's own numbers"),
                  new Entry("verify", "Judges completions of a file"),
                  new Entry("loss", "Checks a loss or advantages of your own"))),
          new Section(
              "Training and evaluation",
              List.of(
                  new Entry("train", "Trains a policy by asynchronous GRPO, or continues a run"),
                  new Entry("sft", "Trains a policy on rows of prompt and completion, or on chats"),
                  new Entry("gym", "Trains students on data that an agent makes from their errors"),
                  new Entry("eval", "Measures a checkpoint: pass@k, intervals, comparisons"),
                  new Entry("serve", "Serves a policy over OpenAI's HTTP interface"))),
          new Section(
              "Watch a run",
              List.of(
                  new Entry("status", "How a run does, and what holds it back"),
                  new Entry("top", "A run on the whole terminal"),
                  new Entry("watch", "Status, waits and actors, once a second"),
                  new Entry("groups", "Groups, one with its completions, or the worst of a run"),
                  new Entry("waits", "Who waits for whom, and since when"),
                  new Entry("events", "What happened, newest last"),
                  new Entry("actors", "Mailboxes, rates, times, restarts and errors of actors"),
                  new Entry("nodes", "Nodes and their workers"),
                  new Entry("verifiers", "Verifiers, one by one"),
                  new Entry("threads", "Stack traces of a process of the run"),
                  new Entry("flame", "Folded stacks of a process, for flame graphs"),
                  new Entry("console", "Opens the console on the folder of a run that has ended"))),
          new Section(
              "Steer a run",
              List.of(
                  new Entry("pause", "Pauses admission"),
                  new Entry("resume", "Resumes admission"),
                  new Entry("requeue", "Has a group sampled again"),
                  new Entry("cancel", "Gives a group up for this epoch"),
                  new Entry("checkpoint", "Saves a checkpoint"),
                  new Entry("drain", "Finishes the groups in flight, saves and ends the run"),
                  new Entry("limit", "Bounds the groups under lease"),
                  new Entry("restart", "Restarts a rollout worker"),
                  new Entry("quarantine", "Gives a verifier no new completions"),
                  new Entry("release", "Ends a verifier's quarantine"),
                  new Entry("log", "Changes the level of a logger"))),
          new Section(
              "After a run",
              List.of(
                  new Entry(
                      "audit", "Proves the guarantees from the journal, with counts of its own"),
                  new Entry("replay", "Makes an asynchronous run again, bit for bit"),
                  new Entry(
                      "explain", "Explains a completion: sampler, reward, advantage, loss weight"),
                  new Entry("compare", "Finds where and why two runs differ"),
                  new Entry("trace", "Writes the journal as a trace for ui.perfetto.dev"),
                  new Entry("export", "Gives metrics, completions, groups or rows to other tools"),
                  new Entry("track", "Sends a run to W&B, MLflow, TensorBoard or Trackio"),
                  new Entry("runs", "Lists runs here or on S3, and copies them"))),
          new Section(
              "Many hosts",
              List.of(
                  new Entry("launch", "Starts a run on many hosts over ssh or Slurm"),
                  new Entry("node", "Makes this host work for a run on a cluster"),
                  new Entry("drain-node", "Drains a node of a cluster"),
                  new Entry("ec2", "Creates and deletes clusters of EC2 instances"),
                  new Entry("sagemaker", "Runs as training jobs of SageMaker"),
                  new Entry("certs", "Makes the certificates of a cluster's hosts"))),
          new Section(
              "Trust",
              List.of(
                  new Entry("soak", "Trains while processes are killed at random, and audits"))));

  @Override
  public String render(Help help) {
    StringBuilder text = new StringBuilder();
    for (Section section : SECTIONS) {
      text.append("%n%s:%n".formatted(section.title()));
      for (Entry entry : section.entries()) {
        text.append("  %-11s %s%n".formatted(entry.name(), entry.summary()));
      }
    }
    return text.append("%nMore of a command: troupe COMMAND --help%n".formatted()).toString();
  }
}
