package io.troupe.aws.sagemaker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.aws.container.JobParameters;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sagemaker.model.CreateTrainingJobRequest;

/** Names, requests and configurations of jobs. */
final class TrainingJobPlanTest {
  private static final Path DATA = Path.of("/opt/ml/input/data");

  private static SageMakerFile file(String... overrides) {
    return SageMakerFile.load(Path.of("../../conf/sagemaker-quickstart.yaml"), List.of(overrides));
  }

  @Test
  void name_ofAnyPrefix_isOneThatSageMakerTakes() {
    LocalDateTime now = LocalDateTime.of(2026, 11, 23, 20, 15, 7);
    assertThat(TrainingJobName.of("job", now)).isEqualTo("job-20261123-201507");
    assertThat(TrainingJobName.isPrefix("a".repeat(47))).isTrue();
    assertThat(TrainingJobName.of("a".repeat(47), now)).matches(TrainingJobName::isValid);
    assertThat(TrainingJobName.isPrefix("a".repeat(48))).isFalse();
    assertThat(List.of("a_b", "a.b", "-a", "a-", "", "a".repeat(64)))
        .noneMatch(TrainingJobName::isValid);
    assertThat(List.of("a", "A1", "a--b", "0-0", "a".repeat(63)))
        .allMatch(TrainingJobName::isValid);
  }

  @Test
  void request_ofManyHostsInANetwork_hasWhatSageMakerNeeds() {
    SageMakerFile file =
        file(
            "instance_count=2",
            "spot=false",
            "subnets=[subnet-1]",
            "security_groups=[sg-1]",
            "encrypt_traffic=true",
            "train_gpus=auto",
            "channels=[]");
    CreateTrainingJobRequest request =
        new TrainingJobPlan(file, "job-1", "s1", new JobParameters("a: 1\n", Map.of())).request();

    assertThat(request.resourceConfig().instanceCount()).isEqualTo(2);
    assertThat(request.stoppingCondition().maxWaitTimeInSeconds()).isNull();
    assertThat(request.vpcConfig().subnets()).containsExactly("subnet-1");
    assertThat(request.enableInterContainerTrafficEncryption()).isTrue();
    assertThat(request.environment())
        .isEqualTo(Map.of("TROUPE_SUBMISSION", "s1", "TROUPE_TRAIN_GPUS", "auto"));
    assertThat(RequestJson.of(request))
        .containsEntry(
            "HyperParameters",
            Map.of("config_00", "\"a: 1\\n\"", "run.sync", "s3://my-bucket/troupe/job-1/runs"))
        .doesNotContainKeys("InputDataConfig", "CheckpointConfig");
  }

  @Test
  void configuration_pathsOfChannels_areRewrittenAndOthersAreFound() {
    SageMakerFile file =
        new SageMakerFile(
            new SageMakerFile.JobRunKeys(
                Path.of("../../conf/qwen3-0.6b-gsm8k.yaml"),
                List.of("policy.checkpoint=../../deploy", "evaluation.every=7"),
                List.of(new SageMakerFile.DataChannel("model", "s3://b/m", "../../deploy")),
                "",
                "",
                0),
            "us-west-2",
            file().machines(),
            file().image(),
            file().limits(),
            file().output());
    var run = RunConfig.load(file.run().config(), file.run().set());

    JobConfiguration found = JobConfiguration.of(file, run, DATA, path -> path.contains("deploy"));

    assertThat(found.assignments())
        .isEqualTo(
            Map.of("policy.checkpoint", "/opt/ml/input/data/model", "evaluation.every", "7"));
    assertThat(found.paths()).isEmpty();
    SageMakerFile without =
        file(
            "config=../../conf/qwen3-0.6b-gsm8k.yaml", "set=[policy.checkpoint=models/Qwen3-1.7B]");
    assertThat(
            JobConfiguration.of(
                    without,
                    RunConfig.load(without.run().config(), without.run().set()),
                    DATA,
                    path -> path.equals("models/Qwen3-1.7B"))
                .paths())
        .isEqualTo(Map.of("policy.checkpoint", "models/Qwen3-1.7B"));
  }

  @Test
  void file_thatSageMakerWouldRefuse_isRefusedHere() {
    assertThatThrownBy(() -> file("name_prefix=a_b"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("name_prefix");
    assertThatThrownBy(() -> file("max_wait=1h")).hasMessageContaining("max_runtime");
    assertThatThrownBy(() -> file("eval_gpus=7")).hasMessageContaining("eval_every");
    assertThatThrownBy(() -> file("subnets=[a]")).hasMessageContaining("security_groups");
  }
}
