package io.troupe.aws.sagemaker;

import io.troupe.aws.container.ContainerContract;
import io.troupe.aws.container.JobParameters;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sagemaker.model.Channel;
import software.amazon.awssdk.services.sagemaker.model.CreateTrainingJobRequest;
import software.amazon.awssdk.services.sagemaker.model.S3DataDistribution;
import software.amazon.awssdk.services.sagemaker.model.S3DataType;
import software.amazon.awssdk.services.sagemaker.model.Tag;
import software.amazon.awssdk.services.sagemaker.model.TrainingInputMode;

/**
 * The request that creates a job; a pure function of the file and the run's configuration.
 *
 * @param file of the job
 * @param name of the job
 * @param submission that distinguishes this submission from others of the same name
 * @param parameters configuration of the run, and assignments over it
 */
record TrainingJobPlan(
    SageMakerFile file, String name, String submission, JobParameters parameters) {
  /** The variable by which a submission knows its own job. */
  static final String SUBMISSION = "TROUPE_SUBMISSION";

  private static final int RETRIES = 3;

  CreateTrainingJobRequest request() {
    CreateTrainingJobRequest.Builder job =
        CreateTrainingJobRequest.builder()
            .trainingJobName(name)
            .algorithmSpecification(
                algorithm ->
                    algorithm
                        .trainingImage(file.image().image())
                        .trainingInputMode(TrainingInputMode.FILE)
                        // Without these SageMaker runs the image with the argument "train".
                        .containerEntrypoint("/opt/troupe/bin/troupe")
                        .containerArguments("sagemaker", "enter"))
            .roleArn(file.image().role())
            .outputDataConfig(output -> output.s3OutputPath(file.output().output()))
            .resourceConfig(
                hosts ->
                    hosts
                        .instanceType(
                            // A type that this SDK does not know goes out as it is written.
                            file.machines().instanceType())
                        .instanceCount(file.machines().instanceCount())
                        .volumeSizeInGB(file.machines().volume()))
            .stoppingCondition(
                stop -> {
                  stop.maxRuntimeInSeconds(Math.toIntExact(file.limits().maxRuntime().toSeconds()));
                  if (file.machines().spot()) {
                    stop.maxWaitTimeInSeconds(Math.toIntExact(file.limits().maxWait().toSeconds()));
                  }
                })
            .retryStrategy(retry -> retry.maximumRetryAttempts(RETRIES))
            .enableManagedSpotTraining(file.machines().spot())
            .enableInterContainerTrafficEncryption(file.image().encryptTraffic())
            .hyperParameters(hyperparameters())
            .environment(environment());
    if (!file.run().channels().isEmpty()) {
      job.inputDataConfig(file.run().channels().stream().map(TrainingJobPlan::channel).toList());
    }
    if (!file.image().subnets().isEmpty()) {
      job.vpcConfig(
          network ->
              network
                  .subnets(file.image().subnets())
                  .securityGroupIds(file.image().securityGroups()));
    }
    List<Tag> tags =
        file.output().tags().stream()
            .map(each -> each.split("=", 2))
            .map(each -> Tag.builder().key(each[0]).value(each[1]).build())
            .toList();
    return tags.isEmpty() ? job.build() : job.tags(tags).build();
  }

  private Map<String, String> hyperparameters() {
    Map<String, String> assignments = new LinkedHashMap<>(parameters.assignments());
    assignments.put(ContainerContract.SYNC, file.output().runs(name));
    return new JobParameters(parameters.config(), assignments).hyperparameters();
  }

  private Map<String, String> environment() {
    Map<String, String> variables = new LinkedHashMap<>(variables(file));
    variables.put(SUBMISSION, submission);
    return variables;
  }

  /**
   * Returns the variables that the entry point of the containers reads beside the configuration.
   */
  static Map<String, String> variables(SageMakerFile file) {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put(ContainerContract.TRAIN_GPUS, file.run().trainGpus());
    variables.put(ContainerContract.EVAL_GPUS, file.run().evalGpus());
    variables.put(ContainerContract.EVAL_EVERY, Integer.toString(file.run().evalEvery()));
    variables.values().removeIf(value -> value.isEmpty() || value.equals("0"));
    return variables;
  }

  private static Channel channel(SageMakerFile.DataChannel channel) {
    return Channel.builder()
        .channelName(channel.name())
        .inputMode(TrainingInputMode.FILE)
        .dataSource(
            source ->
                source.s3DataSource(
                    s3 ->
                        s3.s3DataType(S3DataType.S3_PREFIX)
                            .s3Uri(channel.source())
                            .s3DataDistributionType(S3DataDistribution.FULLY_REPLICATED)))
        .build();
  }
}
