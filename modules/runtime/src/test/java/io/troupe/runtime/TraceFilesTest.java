package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.train.GroupTokenMarks;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.train.TokenMarks.MarkedRun;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.prompt.Toys;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TraceFilesTest {
  @TempDir private Path folder;

  @Test
  void trained_step_isALineWithEveryGroupAndTheMarksThereAre() throws IOException {
    TokenMarks some =
        new TokenMarks(
            List.of(new MarkedRun(3, 2), new MarkedRun(9, 1)),
            List.of(new MarkedRun(0, 1)),
            List.of(),
            List.of(new MarkedRun(0, 12)));
    List<String> reports = new ArrayList<>();
    try (TraceFiles traces = TraceFiles.open(folder, Toys.pool(), () -> 1_500, reports::add)) {
      traces.trained(
          7,
          List.of(
              new GroupTokenMarks(Toys.lease(17, 21), List.of(TokenMarks.NONE, some)),
              new GroupTokenMarks(Toys.lease(18, 20), List.of(TokenMarks.NONE, TokenMarks.NONE))));
      // The file lies there without a close: a killed process keeps the marks of its last step.
      Path file = folder.resolve("trained.jsonl");
      Await.until(() -> Files.size(file) > 0);
      assertThat(Files.readString(file))
          .isEqualTo(
              """
              {"ts":1.5,"step":7,"groups":[\
              {"group":17,"fence":21,"marks":[{},\
              {"low":[[3,2],[9,1]],"high":[[0,1]],"masked":[[0,12]]}]},\
              {"group":18,"fence":20}]}
              """);
    }
    assertThat(reports).isEmpty();
  }

  @Test
  void off_whateverHappens_writesNothingAndLeavesWhatIsThere() throws IOException {
    Path before = Files.writeString(folder.resolve("rollouts.jsonl"), "{}\n");
    try (TraceFiles traces = TraceFiles.off(Toys.pool())) {
      traces.event(new Event.RunStarted(), WeightVersion.BASE);
      traces.event(
          new Event.GroupAdmitted(Toys.lease(17, 21).group(), 0, 0, PromptCursor.START),
          WeightVersion.BASE);
      traces.event(new Event.StepTrained(1), WeightVersion.BASE);
      traces.trained(7, List.of(new GroupTokenMarks(Toys.lease(17, 21), List.of(TokenMarks.NONE))));
      traces.rollout(
          new Recorder.Judged(
              Toys.lease(17, 21),
              new Prompt(new PromptId("p"), "s", "1+1=", "2", ""),
              List.of("2"),
              List.of(new Verdict.Scored(1, "2", "equal")),
              List.of()));
    }
    assertThat(folder.toFile().list()).containsExactly("rollouts.jsonl");
    assertThat(before).hasContent("{}");
  }

  @Test
  void rollout_completionWithoutReward_keepsItsPlaceAmongTheRewards() throws IOException {
    try (TraceFiles traces = TraceFiles.open(folder, Toys.pool(), () -> 1_500, _ -> {})) {
      traces.rollout(
          new Recorder.Judged(
              Toys.lease(17, 21),
              new Prompt(new PromptId("p"), "s", "1+1=", "2", ""),
              List.of("3", "?", "2"),
              List.of(
                  new Verdict.Scored(0, "3", "another number"),
                  new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "late"),
                  new Verdict.Scored(1, "2", "equal")),
              List.of()));
    }
    assertThat(Files.readString(folder.resolve("rollouts.jsonl")))
        .isEqualTo(
            """
            {"ts":1.5,"prompt_id":"p","group":17,"fence":21,"source":"s","prompt":"1+1=",\
            "answer":"2","completions":["3","?","2"],"rewards":[0.0,null,1.0],\
            "passed":[false,false,true],"verdicts":["another number","unverifiable: late","equal"]}
            """);
  }

  @Test
  void evaluated_answers_areALineEachInTheWordsOfEval() throws IOException {
    try (TraceFiles traces = TraceFiles.open(folder, Toys.pool(), () -> 1_500, _ -> {})) {
      traces.evaluated(
          7,
          "held_out",
          List.of(
              new HeldOutEvaluation.JudgedAnswer(
                  "p", 0, "2", 3, false, new Verdict.Scored(1, "2", "equal")),
              new HeldOutEvaluation.JudgedAnswer(
                  "q", 1, "3", 4, true, new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "late"))));
    }
    assertThat(Files.readString(folder.resolve("evaluations.jsonl")))
        .isEqualTo(
            """
            {"ts":1.5,"step":7,"evaluation":"held_out","id":"p","sample":0,"completion":"2","tokens":3,\
            "finish":"stop","reward":1.0,"passed":true,"outcome":"scored","reason":"equal"}
            {"ts":1.5,"step":7,"evaluation":"held_out","id":"q","sample":1,"completion":"3","tokens":4,\
            "finish":"length","reward":null,"passed":false,"outcome":"timeout","reason":"unverifiable: late"}
            """);
  }

  @Test
  void event_ofTheRunAndOfAGroup_isAnInstantAndADifferenceWithTheGroupsLife() throws IOException {
    try (TraceFiles traces = TraceFiles.open(folder, Toys.pool(), () -> 1_500, _ -> {})) {
      traces.event(new Event.WorkerLost(new WorkerId("rollout-1")), WeightVersion.BASE);
      traces.event(
          new Event.LeaseEnded(Toys.lease(17, 21), LeaseEndReason.WORKER_LOST, "gone"),
          WeightVersion.BASE);
      traces.event(new Event.GroupStale(Toys.lease(18, 22)), WeightVersion.BASE);
    }
    assertThat(Files.readAllLines(folder.resolve("samples.jsonl")))
        .containsExactly(
            "{\"ts\":1.5,\"event\":\"pending\",\"group\":17,\"prompt_id\":\"\",\"reason\":\"worker_lost\","
                + "\"detail\":\"gone\",\"trainer_version\":0,\"counts\":true}",
            "{\"ts\":1.5,\"event\":\"pending\",\"group\":18,\"prompt_id\":\"\",\"reason\":\"stale\","
                + "\"detail\":\"too old to train on\",\"trainer_version\":0}");
    assertThat(Files.readAllLines(folder.resolve("trace.jsonl")).getFirst())
        .isEqualTo(
            "{\"ts\":1.5,\"type\":\"instant\",\"name\":\"worker_lost\",\"worker\":\"rollout-1\"}");
  }
}
