package io.troupe.cli.copy;

import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe runs}: the folders of runs and their copies on S3. */
@Command(
    name = "runs",
    description = "Lists runs, here or on S3, and copies them either way.",
    subcommands = {RunsListCommand.class, RunsDownloadCommand.class, RunsSyncCommand.class},
    footer = {
      "",
      "Examples:",
      "  troupe runs list",
      "  troupe runs list s3://bucket/runs",
      "  troupe runs sync runs/quickstart-20261121-140200 --to s3://bucket/runs",
      "  troupe runs download s3://bucket/runs/quickstart-20261121-140200",
      "  troupe train --resume s3://bucket/runs/quickstart-20261121-140200"
    })
public final class RunsCommand extends CommandGroup {}
