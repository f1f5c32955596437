package io.troupe.run.mailbox;

import akka.actor.ActorRef;
import akka.actor.ActorSystem;
import akka.dispatch.MailboxType;
import akka.dispatch.MessageQueue;
import akka.dispatch.ProducesMessageQueue;
import com.typesafe.config.Config;
import scala.Option;

/** Gives every actor a {@link MeteredQueue}; named by the configuration, made by Akka. */
public final class MeteredMailbox implements MailboxType, ProducesMessageQueue<MeteredQueue> {
  /** Creates the mailbox type with the arguments that Akka passes. */
  public MeteredMailbox(ActorSystem.Settings settings, Config config) {}

  @Override
  public MessageQueue create(Option<ActorRef> owner, Option<ActorSystem> system) {
    String path = owner.isEmpty() ? "" : owner.get().path().toStringWithoutAddress();
    MeteredQueue queue = new MeteredQueue(path);
    if (path.startsWith("/user")) {
      MailboxMetrics.remember(queue);
    }
    return queue;
  }
}
