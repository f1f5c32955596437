package io.troupe.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.troupe.aws.ec2.Ec2Command;
import io.troupe.base.files.AtomicFile;
import io.troupe.core.run.Coordination;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.runtime.Coordinator;
import io.troupe.store.journal.Journal;
import io.troupe.store.s3.S3Folders;
import io.troupe.tasks.DataSetTask;
import io.troupe.telemetry.StepRow;
import io.troupe.verifiers.Verifiers;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The packages to which each package may refer, held over the classes of all modules. */
class LayeringTest {
  private static final JavaClasses TROUPE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(location -> !location.contains("-tests.jar"))
          .withImportOption(location -> !location.contains("Offend"))
          .importPackages("io.troupe", "ai.djl.pytorch.jni");

  private static final DescribedPredicate<JavaClass> OURS =
      DescribedPredicate.describe(
          "written here",
          type ->
              type.getPackageName().startsWith("io.troupe")
                  || type.getName().startsWith("ai.djl.pytorch.jni.TorchBridge"));

  static final ArchRule CORE_IS_PURE =
      classes()
          .that()
          .resideInAPackage("io.troupe.core..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "org.jspecify..", "io.troupe.core..");

  static final ArchRule BASE_STANDS_ON_CORE_ALONE =
      classes()
          .that()
          .resideInAPackage("io.troupe.base..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "com.sun.security..",
              "org.jspecify..",
              "org.slf4j..",
              "io.troupe.core..",
              "io.troupe.base..");

  static final ArchRule CORE_HAS_NO_CLOCK_FILE_SOCKET_OR_THREAD =
      noClasses()
          .that()
          .resideInAPackage("io.troupe.core..")
          .should()
          .dependOnClassesThat(
              are(
                  resideInAnyPackage(
                      "java.io..",
                      "java.net..",
                      "java.nio..",
                      "java.util.concurrent..",
                      "java.time..")));

  static final ArchRule AKKA_IN_ACTOR_MODULES =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "io.troupe.runtime..", "io.troupe.cluster..", "io.troupe.run..", "io.troupe.cli..")
          .should()
          .dependOnClassesThat(are(resideInAPackage("akka..")));

  static final ArchRule DJL_IN_ITS_ENGINE =
      noClasses()
          .that(OURS)
          .and()
          .resideOutsideOfPackages("io.troupe.engine.djl..", "ai.djl.pytorch.jni")
          .should()
          .dependOnClassesThat(are(resideInAPackage("ai.djl..")));

  static final ArchRule AMAZON_BEHIND_THE_STORE =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.troupe.store.s3..", "io.troupe.aws..")
          .should()
          .dependOnClassesThat(are(resideInAPackage("software.amazon..")));

  static final ArchRule AMAZON_MACHINES_BEHIND_THE_COMMAND_LINE =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.troupe.aws..", "io.troupe.cli..")
          .should()
          .dependOnClassesThat(are(resideInAPackage("io.troupe.aws..")));

  static final ArchRule NOTHING_KNOWS_THE_COMMAND_LINE =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.troupe.cli..")
          .should()
          .dependOnClassesThat(are(resideInAPackage("io.troupe.cli..")));

  static final ArchRule ENGINES_KNOW_NEITHER_RUNTIME_NOR_STORE =
      noClasses()
          .that()
          .resideInAPackage("io.troupe.engine..")
          .should()
          .dependOnClassesThat(
              are(
                  resideInAnyPackage(
                      "io.troupe.runtime..", "io.troupe.store..", "io.troupe.telemetry..")));

  static final ArchRule STORE_AND_TELEMETRY_DO_NOT_KNOW_RUNTIME =
      noClasses()
          .that()
          .resideInAnyPackage("io.troupe.store..", "io.troupe.telemetry..")
          .should()
          .dependOnClassesThat(are(resideInAPackage("io.troupe.runtime..")));

  static final ArchRule RUNTIME_DOES_NOT_KNOW_CLUSTER =
      noClasses()
          .that()
          .resideInAPackage("io.troupe.runtime..")
          .should()
          .dependOnClassesThat(are(resideInAPackage("io.troupe.cluster..")));

  static final ArchRule QUIET_CORE_AND_RUNTIME =
      noClasses()
          .that()
          .resideInAnyPackage("io.troupe.core..", "io.troupe.runtime..")
          .should()
          .accessField(System.class, "out")
          .orShould()
          .accessField(System.class, "err")
          .orShould()
          .dependOnClassesThat(are(resideInAPackage("java.util.logging..")));

  static final ArchRule NAMES_SAY_WHAT_A_CLASS_IS =
      noClasses().that(OURS).should().haveNameMatching(".*(Manager|Utils|Impl)");

  static final ArchRule PROTOCOLS_ARE_SEALED =
      classes()
          .that()
          .resideInAPackage("io.troupe.runtime..")
          .and()
          .haveSimpleName("Command")
          .should()
          .beInterfaces()
          .andShould(beSealedAndNested());

  static final ArchRule CLASSES_OF_RUNTIME_ARE_FINAL =
      classes()
          .that()
          .resideInAPackage("io.troupe.runtime..")
          .and()
          .areNotInterfaces()
          .should()
          .haveModifier(JavaModifier.FINAL);

  static final ArchRule PACKAGES_HAVE_NO_CYCLES =
      slices().matching("io.troupe.(**)").should().beFreeOfCycles();

  static Stream<ArchRule> rules() {
    return Stream.of(
        PACKAGES_HAVE_NO_CYCLES,
        CORE_IS_PURE,
        BASE_STANDS_ON_CORE_ALONE,
        CORE_HAS_NO_CLOCK_FILE_SOCKET_OR_THREAD,
        AKKA_IN_ACTOR_MODULES,
        DJL_IN_ITS_ENGINE,
        AMAZON_BEHIND_THE_STORE,
        AMAZON_MACHINES_BEHIND_THE_COMMAND_LINE,
        NOTHING_KNOWS_THE_COMMAND_LINE,
        ENGINES_KNOW_NEITHER_RUNTIME_NOR_STORE,
        STORE_AND_TELEMETRY_DO_NOT_KNOW_RUNTIME,
        RUNTIME_DOES_NOT_KNOW_CLUSTER,
        QUIET_CORE_AND_RUNTIME,
        NAMES_SAY_WHAT_A_CLASS_IS,
        PROTOCOLS_ARE_SEALED,
        CLASSES_OF_RUNTIME_ARE_FINAL);
  }

  @ParameterizedTest
  @MethodSource("rules")
  void rule_allModules_holds(ArchRule rule) {
    rule.check(TROUPE);
  }

  /** A rule over classes that were never found would hold for ever. */
  @Test
  void importer_allModules_areThere() {
    for (Class<?> type :
        List.of(
            Coordination.class,
            AtomicFile.class,
            Ec2Command.class,
            DataSetTask.class,
            Verifiers.class,
            SamplingEngine.class,
            ToyPolicy.class,
            DjlPolicy.class,
            Dialect.class,
            Journal.class,
            S3Folders.class,
            StepRow.class,
            Coordinator.class,
            Main.class)) {
      assertThat(TROUPE.contain(type)).as(type.getName()).isTrue();
    }
  }

  private static ArchCondition<JavaClass> beSealedAndNested() {
    return new ArchCondition<>("be sealed and nested in its actor") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        events.add(
            new SimpleConditionEvent(
                type,
                type.reflect().isSealed() && type.isNestedClass(),
                type.getName() + " is not a sealed protocol nested in its actor"));
      }
    };
  }

  /** Each rule, turned on classes that break it, fails. */
  @ParameterizedTest
  @MethodSource("offences")
  void rule_offendingClasses_fails(Offence offence) {
    assertThatThrownBy(() -> offence.rule().check(offence.classes()))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(offence.offender());
  }

  record Offence(ArchRule rule, JavaClasses classes, String offender) {}

  static Stream<Offence> offences() {
    return Stream.of(
        offence(
            PACKAGES_HAVE_NO_CYCLES,
            io.troupe.base.OffendingCaller.class,
            io.troupe.core.OffendingCallee.class),
        offence(CORE_IS_PURE, io.troupe.core.Offender.class),
        offence(BASE_STANDS_ON_CORE_ALONE, io.troupe.base.OffendingFileTool.class),
        offence(CORE_HAS_NO_CLOCK_FILE_SOCKET_OR_THREAD, io.troupe.core.Offender.class),
        offence(AKKA_IN_ACTOR_MODULES, io.troupe.core.Offender.class),
        offence(DJL_IN_ITS_ENGINE, io.troupe.core.Offender.class),
        offence(AMAZON_BEHIND_THE_STORE, io.troupe.core.Offender.class),
        offence(AMAZON_MACHINES_BEHIND_THE_COMMAND_LINE, io.troupe.core.Offender.class),
        offence(NOTHING_KNOWS_THE_COMMAND_LINE, io.troupe.core.Offender.class),
        offence(ENGINES_KNOW_NEITHER_RUNTIME_NOR_STORE, io.troupe.engine.OffendingEngine.class),
        offence(STORE_AND_TELEMETRY_DO_NOT_KNOW_RUNTIME, io.troupe.store.OffendingStore.class),
        offence(RUNTIME_DOES_NOT_KNOW_CLUSTER, io.troupe.runtime.OffendingActor.class),
        offence(QUIET_CORE_AND_RUNTIME, io.troupe.core.Offender.class),
        offence(NAMES_SAY_WHAT_A_CLASS_IS, io.troupe.core.OffenderManager.class),
        offence(PROTOCOLS_ARE_SEALED, io.troupe.runtime.OffendingActor.Command.class),
        offence(CLASSES_OF_RUNTIME_ARE_FINAL, io.troupe.runtime.OffendingActor.class));
  }

  private static Offence offence(ArchRule rule, Class<?> offender, Class<?>... others) {
    return new Offence(
        rule,
        new ClassFileImporter()
            .importClasses(Stream.concat(Stream.of(offender), Stream.of(others)).toList()),
        offender.getSimpleName());
  }
}
