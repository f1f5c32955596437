package io.troupe.core;

import ai.djl.Device;
import akka.actor.typed.ActorRef;
import io.troupe.aws.ec2.Ec2Command;
import io.troupe.cli.Main;
import java.nio.file.Path;
import java.util.List;
import software.amazon.awssdk.services.s3.S3Client;

/** Breaks rules of {@code LayeringTest} that a class of the core must keep, on purpose. */
public final class Offender {
  private Offender() {}

  static List<Class<?>> forbidden() {
    System.out.println(Path.of("."));
    return List.of(ActorRef.class, Device.class, Main.class, S3Client.class, Ec2Command.class);
  }
}
