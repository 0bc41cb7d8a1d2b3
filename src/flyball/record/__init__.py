"""Operations on finished logs: judge one again, draw it, import one from another agent."""
