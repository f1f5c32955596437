package io.troupe.engine.http.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.replica.Replica;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LoadBalancerTest {
  private record Work(String server, int completions) {}

  /** Servers come, go, fail and recover; work is booked where it is, and within the limits. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void choose_anyComingAndGoing_keepsLimitsAndBooks(long seed) {
    Random random = new Random(seed);
    LoadBalancer fleet = LoadBalancer.EMPTY;
    List<Work> running = new ArrayList<>();
    for (int turn = 0; turn < 300; turn++) {
      String name = "s" + random.nextInt(5);
      switch (random.nextInt(7)) {
        case 0 -> {
          if (!fleet.members().containsKey(name)) {
            fleet = fleet.join(name, 1 + random.nextInt(20));
          }
        }
        case 1 -> fleet = fleet.ready(name);
        case 2 -> {
          if (random.nextInt(4) == 0) {
            fleet = fleet.leave(name);
            running.removeIf(work -> work.server().equals(name));
          }
        }
        case 3 -> fleet = random.nextInt(9) == 0 ? fleet.allWithoutWork() : fleet;
        case 4, 5 -> {
          int completions = 1 + random.nextInt(8);
          Optional<String> chosen = fleet.choose(completions, random.nextLong());
          if (chosen.isPresent()) {
            assertThat(fleet.isReady(chosen.get())).isTrue();
            LoadBalancer.Member member = Objects.requireNonNull(fleet.members().get(chosen.get()));
            assertThat(member.load() == 0 || member.load() + completions <= member.limit())
                .isTrue();
            fleet = fleet.started(chosen.get(), completions);
            running.add(new Work(chosen.get(), completions));
          }
        }
        default -> {
          if (!running.isEmpty()) {
            Work work = running.remove(random.nextInt(running.size()));
            fleet = fleet.ended(work.server(), work.completions(), random.nextInt(3) > 0);
          }
        }
      }
      for (Map.Entry<String, LoadBalancer.Member> member : fleet.members().entrySet()) {
        int booked =
            running.stream()
                .filter(work -> work.server().equals(member.getKey()))
                .mapToInt(Work::completions)
                .sum();
        assertThat(member.getValue().load()).isEqualTo(booked);
        assertThat(
                member.getValue().failures() >= LoadBalancer.MOST_FAILURES
                    && member.getValue().ready())
            .isFalse();
      }
    }
  }

  @Test
  void choose_equallyBusyServers_keepsAPromptWhereItWas() {
    LoadBalancer three = LoadBalancer.EMPTY.join("a", 64).join("b", 64).join("c", 64);
    three = three.ready("a").ready("b").ready("c");
    int moved = 0;
    for (long prompt = 0; prompt < 300; prompt++) {
      String home = three.choose(4, prompt).orElseThrow();
      assertThat(three.choose(4, prompt)).hasValue(home);
      String without = three.leave("c").choose(4, prompt).orElseThrow();
      if (home.equals("c")) {
        moved++;
      } else {
        assertThat(without).isEqualTo(home);
      }
    }
    assertThat(moved).isBetween(60, 140);
  }

  @Test
  void choose_oneServerBusier_takesTheOther() {
    LoadBalancer two =
        LoadBalancer.EMPTY.join("a", 16).join("b", 16).ready("a").ready("b").started("a", 8);
    for (long prompt = 0; prompt < 50; prompt++) {
      assertThat(two.choose(4, prompt)).hasValue("b");
    }
  }

  @Test
  void ended_failuresInARow_withdrawTheServerUntilItIsReadyAgain() {
    LoadBalancer fleet = LoadBalancer.EMPTY.join("a", 4).ready("a");
    for (int i = 1; i < LoadBalancer.MOST_FAILURES; i++) {
      fleet = fleet.started("a", 1).ended("a", 1, false);
      assertThat(fleet.isOutOfService("a")).isFalse();
    }
    fleet = fleet.started("a", 1).ended("a", 1, true);
    for (int i = 0; i < LoadBalancer.MOST_FAILURES; i++) {
      assertThat(fleet.isReady("a")).isTrue();
      fleet = fleet.started("a", 1).ended("a", 1, false);
    }
    assertThat(fleet.isOutOfService("a")).isTrue();
    assertThat(fleet.choose(1, 0)).isEmpty();
    assertThat(fleet.ready("a").choose(1, 0)).hasValue("a");
  }

  /** Without what servers tell, the prompt decides; with it, the one that others use less. */
  @Test
  void choose_serverBusyForOthers_givesWayWhateverThePrompt() {
    LoadBalancer fleet = LoadBalancer.EMPTY.join("a", 64).join("b", 64).ready("a").ready("b");
    for (long prompt = 0; prompt < 50; prompt++) {
      assertThat(fleet.withOtherLoad("a", 40).choose(8, prompt)).hasValue("b");
      assertThat(fleet.withOtherLoad("b", 40).choose(8, prompt)).hasValue("a");
      assertThat(fleet.withOtherLoad("a", 40).withOtherLoad("a", 0).choose(8, prompt))
          .isEqualTo(fleet.choose(8, prompt));
    }
    assertThat(fleet.withOtherLoad("a", 1_000).leave("b").choose(8, 1)).hasValue("a");
  }

  @Test
  void others_metricsOfServersThatPeopleRun_areRequestsLessOurOwn() throws Exception {
    Map<String, Integer> texts =
        Map.of(
            """
            vllm:num_requests_running{engine="0"} 9.0
            vllm:num_requests_waiting{engine="0"} 3.0
            """,
            12,
            """
            sglang:num_running_reqs{tp_rank="0"} 7
            sglang:num_queue_reqs{tp_rank="0"} 2
            """,
            9,
            """
            llamacpp:requests_processing 4
            llamacpp:requests_deferred 1
            """,
            5,
            "troupe_serve_requests_running 6",
            6,
            "vllm:num_requests_running NaN",
            0);
    for (Map.Entry<String, Integer> text : texts.entrySet()) {
      String answer =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(text.getKey().length(), text.getKey());
      try (ScriptedServer server =
              new ScriptedServer((_, out) -> out.write(answer.getBytes(StandardCharsets.UTF_8)));
          Replica replica =
              new Replica(
                  "a",
                  new InferenceClient(InferenceEndpoint.of(server.base(), 1)),
                  new LocalPolicy(new CharacterTokenizer("01"), 8, LocalScorer.unavailable()),
                  Optional.empty(),
                  PublishedWeightForm.MERGED)) {
        // Before the watch, which is not patient, the client's classes are loaded.
        assertThat(replica.wire().get("/metrics", Duration.ofSeconds(60)).ok()).isTrue();
        assertThat(LoadMonitor.others(replica)).as(text.getKey()).isEqualTo(text.getValue());
      }
    }
  }
}
