package io.troupe.gym.session;

import io.troupe.base.text.MarkupText;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.Split;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.loop.TrialState.Measured;
import io.troupe.gym.loop.TrialState.TrialStep;
import io.troupe.gym.skill.SkillAction;
import io.troupe.gym.skill.SkillTree;
import io.troupe.gym.skill.Subskill;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A gym as HTML pages that need nothing else: one of the gym, with where each trial is, and one of
 * each trial, with its skill trees, its accuracies by iteration, and samples of rows and answers.
 * Texts of models are escaped, and cut.
 */
final class GymPage {
  /** The name of the page in the gym's folder. */
  static final String FILE = "gym.html";

  private static final int SAMPLES = 4;
  private static final int MOST_CHARACTERS = 300;
  private static final String STYLE =
      "body{font:14px sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse;margin:.5em"
          + " 0 1em}td,th{border:1px solid #ccc;padding:.2em"
          + " .6em;text-align:left;vertical-align:top}td.n{text-align:right}"
          + "div{overflow-x:auto}td.t{white-space:pre-wrap;font-family:monospace}";

  private final GymPlan plan;
  private final GymFolder folder;
  private final GymTask task;
  private final GymState state;
  private final StringBuilder html = new StringBuilder();

  private GymPage(GymPlan plan, GymFolder folder, GymTask task, GymState state) {
    this.plan = plan;
    this.folder = folder;
    this.task = task;
    this.state = state;
  }

  /** Writes the page of a gym and that of one of its trials. */
  static void write(GymPlan plan, GymFolder folder, GymTask task, GymState state, int trial)
      throws IOException {
    String _ =
        GymFolder.write(
            folder.path().resolve(FILE), new GymPage(plan, folder, task, state).overview());
    if (!state.trials().get(trial).measured().isEmpty()) {
      String _ =
          GymFolder.write(
              folder.path().resolve(new GymPage(plan, folder, task, state).link(trial)),
              new GymPage(plan, folder, task, state).trial(trial));
    }
  }

  private String link(int trial) {
    return "%s/trial.html".formatted(folder.trial(trial, plan.trials().get(trial)).getFileName());
  }

  private String overview() {
    begin(
        String.valueOf(folder.path().toAbsolutePath().getFileName()),
        state.trials().stream().allMatch(trial -> !trial.ended().isEmpty()));
    html.append(
        String.format(
            Locale.ROOT,
            "<p>Model calls: %d, %d tokens, $%.4f.</p>%n",
            state.spend().calls(),
            state.spend().tokens(),
            state.spend().microDollars() * 1e-6));
    trials();
    html.append("<div>%s</div>%n".formatted(chart()));
    return html.append("</body></html>\n").toString();
  }

  private String chart() {
    return new GymChart(new GymComparison(plan, folder, task.test(), state)).svg();
  }

  private void begin(String title, boolean over) {
    html.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.append(over ? "" : "<meta http-equiv=\"refresh\" content=\"5\">");
    html.append("<title>%s</title><style>%s</style></head><body>\n".formatted(text(title), STYLE));
    html.append("<h1>%s</h1>\n<p>".formatted(text(title)));
    html.append(over ? "It has ended." : "It is running, and this page reloads itself.");
    html.append("</p>\n");
  }

  private void trials() {
    table("trial", "arm", "seed", "now", "iteration", "rows kept", "validation", "best");
    for (int trial = 0; trial < state.trials().size(); trial++) {
      TrialState at = state.trials().get(trial);
      GymPlan.Planned planned = plan.trials().get(trial);
      boolean measured = !at.measured().isEmpty();
      row(
          measured
              ? "<a href=\"%s\">%d</a>".formatted(text(link(trial)), trial + 1)
              : number(trial + 1),
          text(planned.arm()),
          number(planned.seed()),
          text(at.ended().isEmpty() ? at.phase().name().toLowerCase(Locale.ROOT) : at.ended()),
          number(Math.min(at.iteration(), plan.iterations())),
          number(at.rows()),
          measured ? share(at.measured().getLast().report().overall()) : "",
          at.best() < 0 ? "" : number(at.best()));
    }
    end();
  }

  private String trial(int trial) throws IOException {
    TrialState at = state.trials().get(trial);
    GymPlan.Planned planned = plan.trials().get(trial);
    begin(
        "Trial %d: %s, seed %d".formatted(trial + 1, planned.arm(), planned.seed()),
        !at.ended().isEmpty());
    html.append("<p><a href=\"../%s\">All trials</a></p>\n".formatted(FILE));
    accuracies(at);
    trees(at.trees());
    steps(at.steps());
    if (!at.steps().isEmpty()) {
      rows(folder.iteration(trial, planned, at.steps().getLast().iteration()));
    }
    if (at.measured().size() > 1) {
      changes(trial, at.measured().get(at.measured().size() - 2), at.measured().getLast());
    }
    return html.append("</body></html>\n").toString();
  }

  private void accuracies(TrialState at) {
    List<String> head = new ArrayList<>(List.of("leaf"));
    at.measured().forEach(each -> head.add("after " + each.iteration()));
    head.set(1, "base");
    html.append("<h2>Validation accuracy</h2>\n");
    table(head.toArray(String[]::new));
    List<SkillSlice> leaves = new ArrayList<>(at.measured().getLast().report().leaves());
    leaves.add(at.measured().getLast().report().overall());
    for (SkillSlice leaf : leaves) {
      List<String> cells = new ArrayList<>(List.of(text(leaf.name())));
      for (Measured each : at.measured()) {
        cells.add(
            leaf.name().equals(each.report().overall().name())
                ? share(each.report().overall())
                : each.report().leaf(leaf.name()).map(GymPage::share).orElse(""));
      }
      row(cells.toArray(String[]::new));
    }
    end();
  }

  private void trees(List<SkillTree> trees) {
    if (trees.isEmpty()) {
      return;
    }
    html.append("<h2>Skill trees</h2>\n");
    table("skill", "subskill", "rows next", "rows kept", "");
    for (SkillTree tree : trees) {
      for (Subskill each : tree.subskills()) {
        row(
            text(tree.skill()),
            text(each.name()),
            number(each.allocation()),
            number(each.generated()),
            each.pruned() ? "gets no more" : "");
      }
    }
    end();
  }

  private void steps(List<TrialStep> steps) {
    if (steps.isEmpty()) {
      return;
    }
    html.append("<h2>What the agent did</h2>\n");
    table("iteration", "actions", "kept", "refused", "rewards");
    for (TrialStep step : steps) {
      Map<String, String> rewards = new TreeMap<>();
      step.rewards()
          .forEach(
              each -> rewards.put(each.skill(), String.format(Locale.ROOT, "%+.3f", each.value())));
      row(
          number(step.iteration()),
          text(actions(step.actions())),
          text(new TreeMap<>(step.kept()).toString()),
          text(new TreeMap<>(step.refused()).toString()),
          text(rewards.toString()));
    }
    end();
  }

  private static String actions(Map<String, SkillAction> actions) {
    return new TreeMap<>(actions)
        .entrySet().stream()
            .map(
                each ->
                    each.getKey()
                        + switch (each.getValue()) {
                          case SkillAction.Explore(int subskills, int rows) ->
                              ": %d new subskills of %d rows".formatted(subskills, rows);
                          case SkillAction.Exploit(Map<String, Integer> delta) ->
                              ": rows changed by " + new TreeMap<>(delta);
                        })
            .collect(Collectors.joining("; "));
  }

  private void rows(Path iteration) throws IOException {
    html.append("<h2>Rows of the last iteration, the first of each leaf</h2>\n");
    table("leaf", "prompt", "response", "");
    rows(iteration.resolve(GymFolder.KEPT), "kept");
    rows(iteration.resolve(GymFolder.REFUSED), "refused");
    end();
  }

  private void rows(Path file, String fate) throws IOException {
    if (!Files.exists(file)) {
      return;
    }
    Set<String> shown = new HashSet<>();
    for (TrainingRow each : GymFolder.readRows(file)) {
      if (shown.add(each.item().leaf())) {
        row(
            text(each.item().leaf()),
            code(each.item().prompt()),
            code(each.response()),
            text(fate));
      }
    }
  }

  /** Answers that a training changed, of the items of both validations. */
  private void changes(int trial, Measured before, Measured after) throws IOException {
    List<AnsweredItem> old = answers(trial, before.iteration());
    List<AnsweredItem> now = answers(trial, after.iteration());
    html.append("<h2>Answers before and after iteration %d</h2>%n".formatted(after.iteration()));
    table("leaf", "prompt", "answer", "before", "after", "");
    for (boolean gained : new boolean[] {true, false}) {
      int shown = 0;
      for (int i = 0; i < now.size() && shown < SAMPLES; i++) {
        AnsweredItem each = now.get(i);
        if (each.correct() == gained && old.get(i).correct() != gained) {
          shown++;
          row(
              text(each.item().leaf()),
              code(each.item().prompt()),
              code(each.item().answer()),
              code(old.get(i).response()),
              code(each.response()),
              gained ? "gained" : "lost");
        }
      }
    }
    end();
  }

  private List<AnsweredItem> answers(int trial, int iteration) throws IOException {
    return GymFolder.readAnswers(
        folder.iteration(trial, plan.trials().get(trial), iteration),
        Split.VALIDATION,
        task.validation());
  }

  private void table(String... head) {
    html.append("<table><tr>");
    for (String cell : head) {
      html.append("<th>").append(text(cell)).append("</th>");
    }
    html.append("</tr>\n");
  }

  /** A row of cells that are markup already. */
  private void row(String... cells) {
    html.append("<tr>");
    for (String cell : cells) {
      html.append(cell.startsWith("<td") ? cell : "<td>" + cell + "</td>");
    }
    html.append("</tr>\n");
  }

  private void end() {
    html.append("</table>\n");
  }

  private static String text(String text) {
    return MarkupText.escaped(cut(text));
  }

  private static String code(String text) {
    return "<td class=\"t\">%s</td>".formatted(text(text));
  }

  private static String number(long number) {
    return "<td class=\"n\">%d</td>".formatted(number);
  }

  private static String share(SkillSlice slice) {
    return String.format(Locale.ROOT, "<td class=\"n\">%.3f</td>", slice.accuracy());
  }

  private static String cut(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "…";
  }
}
