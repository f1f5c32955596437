package io.troupe.engine.djl.install;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The C header of a class with native methods, as {@code javac -h} writes it, made from the
 * compiled class: so the header is that of the DJL that will call the binding, and no compiler of
 * Java is needed. Names are those of the Java Native Interface Specification, chapter 2.
 */
final class JniHeader {
  private JniHeader() {}

  /** The name of the header of a class. */
  static String name(Class<?> type) {
    return type.getName().replace('.', '_') + ".h";
  }

  static String of(Class<?> type) {
    List<Method> methods =
        Arrays.stream(type.getDeclaredMethods())
            .filter(method -> Modifier.isNative(method.getModifiers()))
            .sorted(Comparator.comparing(Method::getName).thenComparing(JniHeader::signature))
            .toList();
    String declared =
        methods.stream()
            .map(method -> declaration(type, method, isOverloaded(method, methods)))
            .collect(Collectors.joining());
    return """
        #include <jni.h>
        #pragma once
        extern "C" {
        %s}
        """
        .formatted(declared);
  }

  private static boolean isOverloaded(Method method, List<Method> among) {
    return among.stream().filter(other -> other.getName().equals(method.getName())).count() > 1;
  }

  private static String declaration(Class<?> type, Method method, boolean overloaded) {
    String name =
        "Java_%s_%s%s"
            .formatted(
                mangled(type.getName().replace('.', '/')),
                mangled(method.getName()),
                overloaded ? "__" + mangled(signature(method)) : "");
    String receiver = Modifier.isStatic(method.getModifiers()) ? "jclass" : "jobject";
    String parameters =
        Stream.concat(
                Stream.of("JNIEnv *", receiver),
                Arrays.stream(method.getParameterTypes()).map(JniHeader::c))
            .collect(Collectors.joining(", "));
    return "JNIEXPORT %s JNICALL %s(%s);\n".formatted(c(method.getReturnType()), name, parameters);
  }

  private static String signature(Method method) {
    return Arrays.stream(method.getParameterTypes())
        .map(Class::descriptorString)
        .collect(Collectors.joining());
  }

  private static String mangled(String name) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      switch (c) {
        case '/' -> text.append('_');
        case '_' -> text.append("_1");
        case ';' -> text.append("_2");
        case '[' -> text.append("_3");
        default -> text.append(isPlain(c) ? String.valueOf(c) : "_0%04x".formatted((int) c));
      }
    }
    return text.toString();
  }

  private static boolean isPlain(char c) {
    return c < 128 && Character.isLetterOrDigit(c);
  }

  private static String c(Class<?> type) {
    if (type == void.class) {
      return "void";
    }
    if (type.isPrimitive()) {
      return "j" + type.getName();
    }
    if (type.isArray()) {
      Class<?> component = type.getComponentType();
      return component.isPrimitive() ? "j" + component.getName() + "Array" : "jobjectArray";
    }
    if (type == String.class) {
      return "jstring";
    }
    if (type == Class.class) {
      return "jclass";
    }
    return Throwable.class.isAssignableFrom(type) ? "jthrowable" : "jobject";
  }
}
