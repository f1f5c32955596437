package io.troupe.config.task;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.store.s3.S3Settings;

/** An object store that speaks S3, asked for data sets and models before the hub. */
@Doc("S3")
public record S3Keys(
    @Doc(
            "Folder of data sets on S3, asked before the hub, such as `s3://bucket/datasets`, with"
                + " one folder a split in it: `gsm8k_train`; empty means none. Credentials are"
                + " found as Amazon's tools find them.")
        @Default("")
        String s3Folder,
    @Doc(
            "Folder of models on S3, asked before the hub, such as `s3://bucket/models`, with one"
                + " folder a model in it: `Qwen--Qwen3-0.6B`; empty means none.")
        @Default("")
        String s3Models,
    @Doc("Address of an S3 server other than Amazon's, such as `http://localhost:9000`.")
        @Default("")
        String s3Endpoint,
    @Doc("Region of S3; empty means what the environment says, else the bucket's own.") @Default("")
        String s3Region,
    @Doc("Whether the bucket is in the path of addresses, as MinIO and its like need it.")
        @Default("false")
        boolean s3PathStyle)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("s3_folder")
        .require(
            () -> s3Folder.isEmpty() || s3Folder.matches("s3://[^/]+(/.*)?"),
            "must be an address on S3",
            "write s3://bucket/folder");
    rules
        .on("s3_models")
        .require(
            () -> s3Models.isEmpty() || s3Models.matches("s3://[^/]+(/.*)?"),
            "must be an address on S3",
            "write s3://bucket/folder");
    rules
        .on("s3_endpoint")
        .require(
            () -> s3Endpoint.isEmpty() || s3Endpoint.matches("https?://[^/\\s]+(/.*)?"),
            "must be an address",
            "write for example http://localhost:9000");
  }

  /** Returns the settings of the S3 client. */
  public S3Settings settings() {
    return new S3Settings(s3Endpoint, s3Region, s3PathStyle);
  }
}
