package io.troupe.aws.sagemaker;

/**
 * The record of a submission.
 *
 * @param name of the job
 * @param submission that distinguishes it from others of the same name
 * @param digest of the request without name and submission
 * @param config file of the run
 * @param output places on S3
 * @param price USD per hour of all hosts together
 * @param region of the job
 * @param accepted whether SageMaker has taken it
 */
record JobRecord(
    String name,
    String submission,
    String digest,
    String config,
    JobPlaces output,
    double price,
    String region,
    boolean accepted) {
  /**
   * The places of a job's files on S3.
   *
   * @param runs below which its run is copied
   * @param results of the job, at its end
   */
  record JobPlaces(String runs, String results) {}

  JobRecord taken() {
    return new JobRecord(name, submission, digest, config, output, price, region, true);
  }
}
