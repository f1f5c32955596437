package io.troupe.aws.sagemaker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.aws.sagemaker.FakeSageMaker.PlayedState;
import io.troupe.launch.CommandEnd;
import io.troupe.testkit.AwsKeys;
import io.troupe.testkit.FakeObjectStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe sagemaker} through Amazon's SDK, against a played server. */
final class SageMakerCommandTest {
  private static final String FILE = "../../conf/sagemaker-quickstart.yaml";

  @TempDir private Path folder;

  private FakeSageMaker server;

  @BeforeEach
  void start() throws IOException {
    AwsKeys.set();
    server = FakeSageMaker.start();
  }

  @AfterEach
  void stop() {
    server.close();
    AwsKeys.clear();
  }

  private CommandEnd sagemaker(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--poll", "0.01", "--aws-endpoint", server.endpoint()));
    all.addAll(List.of("--state", folder.resolve("state").toString()));
    return CommandEnd.of(new SageMakerCommand(), all);
  }

  private CommandEnd submit(String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "submit",
                FILE,
                "--set",
                "config=../../conf/quickstart.yaml",
                "--set",
                "job_log=" + folder.resolve("jobs.md")));
    words.addAll(List.of(more));
    return sagemaker(words.toArray(String[]::new));
  }

  private String job() {
    return server.jobs.keySet().iterator().next();
  }

  private long created() {
    return server.operations.stream().filter("CreateTrainingJob"::equals).count();
  }

  @Test
  void submit_twiceByName_createsOneJobAndOneRowOfTheLog() throws IOException {
    CommandEnd submitted = submit("--name", "job-1");
    CommandEnd again = submit("--name", "job-1", "--json");

    assertThat(submitted.code()).as(submitted.err()).isZero();
    assertThat(submitted.err())
        .contains("1 × ml.c7i.2xlarge for at most 4.00 h cost at most 1.72 USD");
    assertThat(again.out())
        .isEqualTo(
            "{\"job\":\"job-1\",\"submitted\":false,\"estimate_usd\":1.72,\"runs\":\"s3://my-bucket/troupe/job-1/runs\"}\n");
    assertThat(created()).isEqualTo(1);
    assertThat(Files.readAllLines(folder.resolve("jobs.md")))
        .hasSize(3)
        .last()
        .asString()
        .startsWith(
            "| job-1 | ../../conf/quickstart.yaml | The quickstart, two-digit additions | ");
    JsonNode request = Objects.requireNonNull(server.jobs.get("job-1"));
    assertThat(request.at("/AlgorithmSpecification/ContainerArguments").toString())
        .isEqualTo("[\"sagemaker\",\"enter\"]");
    assertThat(request.at("/HyperParameters/run.sync").asText())
        .isEqualTo("s3://my-bucket/troupe/job-1/runs");
    assertThat(submit("--name", "job-1", "--set", "max_runtime=1h").err())
        .contains("was submitted from here with another content");
    assertThat(submit("--name", "a_b").err()).contains("'a_b' is no name of a training job");
  }

  @Test
  void submit_answerLost_knowsItsOwnJob() {
    server
        .fail("CreateTrainingJob", 400, "ThrottlingException", false)
        .fail("CreateTrainingJob", 500, "InternalFailure", true);

    CommandEnd submitted = submit();

    assertThat(submitted.code()).as(submitted.err()).isZero();
    assertThat(server.jobs).hasSize(1);
    assertThat(created()).isEqualTo(3);
  }

  @Test
  void submit_noAnswerInTime_isContinuedUnderTheSameName() {
    for (int i = 0; i < 3; i++) {
      server.fail("CreateTrainingJob", 503, "ServiceUnavailable", i == 2);
    }
    CommandEnd unknown = submit("--patience", "0");
    assertThat(unknown.code()).isEqualTo(4);
    assertThat(unknown.err()).contains("was submitted is not known: repeat the command");

    CommandEnd continued = submit();

    assertThat(continued.code()).as(continued.err()).isZero();
    assertThat(continued.err()).contains("continues the submission of " + job());
    assertThat(server.jobs).hasSize(1);
  }

  @Test
  void submit_expiredCredentials_continuesWhenTheyAreGood() {
    server.fail("CreateTrainingJob", 400, "ExpiredTokenException", false);

    CommandEnd submitted = submit();

    assertThat(submitted.code()).as(submitted.err()).isZero();
    assertThat(submitted.err()).contains("the credentials have expired or are wrong, renew them");
  }

  @Test
  void submit_refused_saysWhyAndForgetsTheName() {
    server.fail("CreateTrainingJob", 400, "ResourceLimitExceeded", false);

    CommandEnd refused = submit();

    assertThat(refused.code()).isEqualTo(4);
    assertThat(refused.err()).contains("ResourceLimitExceeded (a quota of this account;");
    assertThat(folder.resolve("state")).isDirectoryNotContaining("glob:**.json");
    assertThat(folder.resolve("jobs.md")).doesNotExist();
  }

  @Test
  void submit_nameOfAnotherJob_isRefused() {
    assertThat(submit("--name", "mine").code()).isZero();
    assertThat(
            sagemakerElsewhere(
                "submit", FILE, "--set", "config=../../conf/quickstart.yaml", "--name", "mine"))
        .contains("the name mine is taken by another job: choose another --name");
  }

  private String sagemakerElsewhere(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--state", folder.resolve("elsewhere").toString()));
    all.addAll(List.of("--aws-endpoint", server.endpoint()));
    CommandEnd ended = CommandEnd.of(new SageMakerCommand(), all);
    assertThat(ended.code()).isEqualTo(4);
    return ended.err();
  }

  @Test
  void submit_dryRunOverBudgetOrLocalPath_asksNothing() {
    CommandEnd shown = submit("--dry-run");
    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out())
        .contains("\"MaxWaitTimeInSeconds\" : 43200")
        .contains("\"VolumeSizeInGB\" : 100")
        .endsWith("cost at most 1.72 USD by the price in the file\n");

    assertThat(submit("--set", "budget=1").err()).contains("the budget is 1.00 USD");
    assertThat(
            submit(
                    "--set",
                    "config=../../conf/qwen3-0.6b-gsm8k.yaml",
                    "--set",
                    "set=[policy.checkpoint=../../deploy]")
                .err())
        .contains("policy.checkpoint is /")
        .contains("/deploy, a path of this machine that the job will not have; copy it to S3");
    assertThat(server.operations).isEmpty();
  }

  @Test
  void logs_follow_printsEveryLineOnceAndTheCapacityError() {
    assertThat(submit("--name", "job-1").code()).isZero();
    server.streams.put("job-1/algo-1-1700000000", List.of("a", "b", "c"));
    server.streams.put("job-1/algo-2-1700000000", List.of("d"));
    server.streams.put("job-10/algo-1-1700000000", List.of("of another job"));
    server
        .shows(
            new PlayedState("InProgress", "Starting", ""),
            new PlayedState("InProgress", "AwaitingNewWord", ""),
            new PlayedState("Failed", "Failed", "CapacityError: Unable to provision capacity."))
        .fail("GetLogEvents", 400, "ThrottlingException", false);

    CommandEnd followed = sagemaker("logs", "job-1", "--follow");

    assertThat(followed.out()).isEqualTo("algo-1  a\nalgo-1  b\nalgo-1  c\nalgo-2  d\n");
    assertThat(sagemaker("logs", "job-1", "--json").out().lines())
        .hasSize(4)
        .last()
        .isEqualTo("{\"host\":\"algo-2\",\"line\":\"d\"}");
    assertThat(followed.err())
        .contains("InProgress (AwaitingNewWord)")
        .contains("no such instances there now; submit it again later");
    assertThat(followed.code()).isEqualTo(4);
  }

  @Test
  void statusAndStop_jobAtWorkAndEnded_sayWhatIsSo() {
    assertThat(submit("--name", "job-1").code()).isZero();
    assertThat(sagemaker("logs", "job-1").out()).isEmpty();

    assertThat(sagemaker("stop", "job-1", "--dry-run").out()).contains("would stop job job-1");
    assertThat(sagemaker("stop", "job-1").out()).isEqualTo("stops job job-1 (Starting)\n");
    assertThat(sagemaker("stop", "job-1").out()).contains("Stopping");
    assertThat(sagemaker("stop", "job-1").out()).contains("Stopped");
    assertThat(server.operations.stream().filter("StopTrainingJob"::equals)).hasSize(1);

    server.shows(new PlayedState("Completed", "Completed", ""));
    CommandEnd status = sagemaker("status", "job-1");
    assertThat(status.code()).isZero();
    assertThat(status.out())
        .contains("job-1 Completed (Completed) · 1 × ml.c7i.2xlarge · 0.50 h billed, 0.22 USD");
    assertThat(sagemaker("status", "job-2", "--region", "us-west-2").err())
        .contains("there is no job job-2 in this region and account");
    assertThat(sagemaker("status", "job-2").err()).contains("say its --region");
  }

  @Test
  void download_archivesOfAJob_areOneFolder() throws IOException {
    assertThat(submit("--name", "job-1").code()).isZero();
    Path target = folder.resolve("results");
    try (FakeObjectStore store =
        FakeObjectStore.start()
            .bucket("my-bucket")
            .put("my-bucket/troupe/job-1/output/model.tar.gz", tar(Map.of("./config.json", "{}")))
            .put(
                "my-bucket/troupe/job-1/output/output.tar.gz",
                tar(Map.of("run/RESULTS.md", "good", "x/".repeat(70) + "deep", "long")))) {
      CommandEnd fetched =
          sagemaker(
              "download", "job-1", "-o", target.toString(), "--s3-endpoint", store.endpoint());

      assertThat(fetched.code()).as(fetched.err()).isZero();
      assertThat(target.resolve("model/config.json")).hasContent("{}");
      assertThat(target.resolve("run/RESULTS.md")).hasContent("good");
      assertThat(target.resolve("x/".repeat(70) + "deep")).hasContent("long");
      assertThat(fetched.out()).startsWith("3 files in ");

      store.put("my-bucket/troupe/job-1/output/output.tar.gz", tar(Map.of("../../evil", "bad")));
      Path second = folder.resolve("second");
      CommandEnd refused =
          sagemaker(
              "download", "job-1", "-o", second.toString(), "--s3-endpoint", store.endpoint());
      assertThat(refused.err()).contains("a file ../../evil, which is not below the folder");
      assertThat(second).doesNotExist();
      assertThat(folder.resolve("evil")).doesNotExist();
    }
  }

  /** An archive as GNU tar writes it. */
  private static byte[] tar(Map<String, String> files) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      for (Map.Entry<String, String> file : new TreeMap<>(files).entrySet()) {
        byte[] name = file.getKey().getBytes(StandardCharsets.UTF_8);
        if (name.length > 100) {
          entry(out, "././@LongLink".getBytes(StandardCharsets.UTF_8), 'L', name);
        }
        entry(out, name, '0', file.getValue().getBytes(StandardCharsets.UTF_8));
      }
      out.write(new byte[1024]);
    }
    return bytes.toByteArray();
  }

  private static void entry(GZIPOutputStream out, byte[] name, char type, byte[] content)
      throws IOException {
    byte[] header = new byte[512];
    System.arraycopy(name, 0, header, 0, Math.min(100, name.length));
    byte[] size = "%011o".formatted(content.length).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(size, 0, header, 124, size.length);
    header[156] = (byte) type;
    out.write(header);
    out.write(content);
    out.write(new byte[(512 - content.length % 512) % 512]);
  }
}
