package io.troupe.run.mailbox;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.troupe.console.process.ActorRow;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.LoggerFactory;

/**
 * The mailboxes of this process. They are static because Akka makes mailboxes by the name of a
 * class: there is no other way to hand them something.
 */
public final class MailboxMetrics {
  private static final Set<MeteredQueue> QUEUES = ConcurrentHashMap.newKeySet();

  private MailboxMetrics() {}

  static void remember(MeteredQueue queue) {
    QUEUES.add(queue);
  }

  static void forget(MeteredQueue queue) {
    QUEUES.remove(queue);
  }

  public static List<ActorRow> rows() {
    return QUEUES.stream()
        .map(MeteredQueue::row)
        .sorted(Comparator.comparing(ActorRow::path))
        .toList();
  }

  /** Counts failures and restarts of actors from what their supervisors log. */
  public static void watchFailures() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      Failures failures = new Failures();
      failures.setContext(context);
      failures.start();
      context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(failures);
    }
  }

  /** Changes a logger's level. */
  public static void setLevel(String logger, String level) {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.getLogger(logger).setLevel(Level.valueOf(level));
    }
  }

  private static final class Failures extends AppenderBase<ILoggingEvent> {
    @Override
    protected void append(ILoggingEvent event) {
      String source = event.getMDCPropertyMap().getOrDefault("akkaSource", "");
      int user = source.indexOf("/user");
      if (event.getLevel().isGreaterOrEqual(Level.ERROR) && user >= 0) {
        String path = source.substring(user);
        boolean restarted = event.getMessage().startsWith("Supervisor Restart");
        QUEUES.stream()
            .filter(queue -> queue.path().equals(path))
            .forEach(queue -> queue.failed(event.getFormattedMessage(), restarted));
      }
    }
  }
}
