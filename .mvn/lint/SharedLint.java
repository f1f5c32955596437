import static java.lang.classfile.ClassFile.ACC_SYNCHRONIZED;

import java.lang.classfile.AccessFlags;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * The agent that brings the lint's libraries onto the class path of Maven's JVM (its manifest names
 * them), where the compilers of all modules share them. They compile at the same time, and of all
 * that the libraries keep in static fields, one map is not safe for threads: {@code
 * TreeUtils.treeUids}, in NullAway's and in Error Prone's copy of the Checker Framework. A thread
 * that reads the map while another enlarges it may never end. So the map's method is synchronized
 * here.
 */
final class SharedLint implements ClassFileTransformer {
  private static final String MAP = "/org/plumelib/util/UniqueIdMap";

  /** Called by the JVM before Maven starts. */
  public static void premain(String options, Instrumentation jvm) {
    jvm.addTransformer(new SharedLint());
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    if (name == null || !name.endsWith(MAP)) {
      return null;
    }
    ClassFile file = ClassFile.of();
    return file.transformClass(
        file.parse(bytes),
        ClassTransform.transformingMethods(
            method -> method.methodName().equalsString("get"),
            (builder, element) -> {
              if (element instanceof AccessFlags flags) {
                builder.withFlags(flags.flagsMask() | ACC_SYNCHRONIZED);
              } else {
                builder.with(element);
              }
            }));
  }
}
